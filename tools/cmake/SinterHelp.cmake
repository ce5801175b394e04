# cmake -DSINTER=TOOL -DFOLDER=DIR -P: the manual and what shells complete by, as
# the tool prints them, where `share` of an installation has them.
function(print file)
  execute_process(COMMAND ${SINTER} ${ARGN}
    OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
foreach(folder man/man1 bash-completion/completions zsh/vendor-completions
    fish/vendor_completions.d)
  file(MAKE_DIRECTORY ${FOLDER}/${folder})
endforeach()
print(bash-completion/completions/sinter completion bash)
print(zsh/vendor-completions/_sinter completion zsh)
print(fish/vendor_completions.d/sinter.fish completion fish)

print(man/man1/sinter.1 man)
file(READ ${FOLDER}/man/man1/sinter.1 page)
string(REGEX MATCHALL "sinter.?-[a-z]+" names "${page}")
foreach(name ${names})
  string(REGEX REPLACE "sinter.?-" "" name ${name})
  print(man/man1/sinter-${name}.1 man ${name})
endforeach()
