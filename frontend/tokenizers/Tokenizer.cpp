// Begun here.
