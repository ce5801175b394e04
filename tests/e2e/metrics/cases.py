#!/usr/bin/env python3
"""Makes batches of uneven size, and what scikit-learn, torchmetrics,
scikit-image, jiwer, sacrebleu and rouge-score say of all their items together.

usage: cases.py FOLDER BATCHES MOST_ITEMS

Writes FOLDER/data.npz and FOLDER/cases.json, which tests/unit/metrics reads.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
import torch
import torchmetrics.classification as tmc
import torchmetrics.image as tmi
import torchmetrics.regression as tmr
import torchmetrics.text as tmt
from sklearn import metrics as skm

warnings.filterwarnings("ignore")
CLASSES = 7
LABELS = 5
VOCABULARY = 23


class Writer:
    def __init__(self, batches, most):
        self.random = np.random.default_rng(20240607)
        self.batches, self.most = batches, most
        self.arrays, self.cases, self.texts = {}, [], {}

    def sizes(self, most=None):
        return self.random.integers(1, (most or self.most) + 1, self.batches)

    def data(self, name, sizes, **arrays):
        self.arrays[f"{name}.sizes"] = np.asarray(sizes, np.int64)
        for key, array in arrays.items():
            self.arrays[f"{name}.{key}"] = array

    def case(self, metric, data, expected, **options):
        if not isinstance(expected, dict):
            expected = {"": expected}
        expected = {k: float(v) for k, v in expected.items()}
        self.cases.append({"metric": metric, "data": data, "options": options,
                           "expected": expected})

    def each(self, metric, data, values, **options):
        self.case(metric, data, {str(i): v for i, v in enumerate(values)},
                  **options)


def close_scores(random, targets, classes):
    """Logits that are right more often than not."""
    logits = random.normal(size=targets.shape + (classes,))
    right = np.eye(classes)[np.clip(targets, 0, classes - 1)]
    return (logits + 1.5 * right).astype(np.float32)


def averages(tm, sk, writer, metric, data, scores, targets, **options):
    """One metric with every average: torchmetrics and scikit-learn agree."""
    for average in ["micro", "macro", "weighted", None]:
        value = tm(average)(scores, targets)
        if sk:
            theirs = sk(average)
            assert np.allclose(value.numpy(), theirs, rtol=1e-5), metric
        name = average or "none"
        if average:
            writer.case(metric, data, value, average=name, **options)
        else:
            writer.each(metric, data, value, average=name, **options)


def one_against_rest(targets, logits):
    """The mean area of the classes that have one, as roc_auc_score says it."""
    chances = torch.softmax(torch.from_numpy(logits).double(), 1).numpy()
    return np.mean([skm.roc_auc_score(targets == c, chances[:, c])
                    for c in range(chances.shape[1])
                    if 0 < (targets == c).sum() < len(targets)])


def multiclass(w):
    sizes = w.sizes()
    targets = w.random.integers(0, CLASSES - 1, sizes.sum())  # the last: never
    logits = close_scores(w.random, targets, CLASSES)
    logits[:, CLASSES - 1] -= 100  # nor predicted
    w.data("multiclass", sizes, scores=logits, targets=targets)
    x, y = torch.from_numpy(logits), torch.from_numpy(targets)
    guess, c = logits.argmax(1), {"classes": CLASSES}
    score = {"accuracy": tmc.MulticlassAccuracy,
             "precision": tmc.MulticlassPrecision,
             "recall": tmc.MulticlassRecall, "iou": tmc.MulticlassJaccardIndex,
             "dice": tmc.MulticlassF1Score,
             "hamming": tmc.MulticlassHammingDistance}
    seen = list(range(CLASSES - 1))
    sklearns = {"precision": skm.precision_score, "recall": skm.recall_score,
                "iou": skm.jaccard_score, "dice": skm.f1_score}
    for name, make in score.items():
        averages(lambda a: make(CLASSES, average=a), None, w, name,
                 "multiclass", x, y, **c)
        if name in sklearns:  # classes that are there are those that count
            w.case(name, "multiclass",
                   sklearns[name](targets, guess, average="macro",
                                  labels=seen, zero_division=0),
                   average="macro", **c)
    for beta in [0.5, 2.0]:
        averages(lambda a: tmc.MulticlassFBetaScore(beta, CLASSES, average=a),
                 None, w, "fbeta", "multiclass", x, y, beta=beta, **c)
    w.case("accuracy", "multiclass", skm.accuracy_score(targets, guess), **c)
    w.case("accuracy_of_classes", "multiclass",
           skm.accuracy_score(targets, guess), **c)
    for k in [1, 2, 3]:
        w.case("topk", "multiclass", tmc.MulticlassAccuracy(
            CLASSES, average="micro", top_k=k)(x, y), k=k, **c)
        w.case("topk", "multiclass", skm.top_k_accuracy_score(
            targets, logits, k=k, labels=range(CLASSES)), k=k, **c)
    matrix = skm.confusion_matrix(targets, guess, labels=range(CLASSES))
    w.case("confusion", "multiclass",
           {f"{i}.{j}": matrix[i, j] for i in range(CLASSES)
            for j in range(CLASSES)}, **c)
    # Half floats are read as what they are.
    half = x.to(torch.bfloat16)
    w.case("accuracy", "multiclass", skm.accuracy_score(
        targets, half.float().argmax(1)), dtype="bf16", **c)
    w.case("accuracy", "multiclass", skm.accuracy_score(
        targets, x.half().float().argmax(1)), dtype="f16", **c)


def ignored(w):
    sizes = w.sizes()
    targets = w.random.integers(-1, CLASSES, sizes.sum())
    logits = close_scores(w.random, targets, CLASSES)
    mask = w.random.integers(0, 2, sizes.sum()).astype(bool)
    w.data("ignored", sizes, scores=logits, targets=targets)
    w.data("masked", sizes, scores=logits, targets=targets, mask=mask)
    for name, keep in [("ignored", targets >= 0),
                       ("masked", (targets >= 0) & mask)]:
        x, y = torch.from_numpy(logits[keep]), torch.from_numpy(targets[keep])
        o = {"classes": CLASSES, "ignore_index": -1}
        w.case("accuracy", name,
               tmc.MulticlassAccuracy(CLASSES, average="micro")(x, y), **o)
        averages(lambda a: tmc.MulticlassF1Score(CLASSES, average=a), None, w,
                 "f1", name, x, y, **o)
        w.case("topk", name, tmc.MulticlassAccuracy(
            CLASSES, average="micro", top_k=2)(x, y), k=2, **o)
        w.case("auroc", name, one_against_rest(targets[keep], logits[keep]),
               task="multiclass", **o)
    w.case("auroc", "multiclass", one_against_rest(
        w.arrays["multiclass.targets"], w.arrays["multiclass.scores"]),
        task="multiclass", classes=CLASSES)


def binary(w):
    sizes = w.sizes()
    targets = w.random.integers(0, 2, sizes.sum())
    logits = (w.random.normal(size=sizes.sum()) + targets).astype(np.float32)
    w.data("binary", sizes, scores=logits, targets=targets)
    chance = torch.sigmoid(torch.from_numpy(logits)).numpy()
    w.data("chances", sizes, scores=chance, targets=targets.astype(np.float32))
    w.data("flags", sizes, scores=chance > 0.5, targets=targets.astype(bool))
    guess = chance > 0.5
    o = {"task": "binary"}
    for name, of in {"accuracy": skm.accuracy_score,
                     "precision": skm.precision_score,
                     "recall": skm.recall_score, "f1": skm.f1_score,
                     "hamming": skm.hamming_loss,
                     "iou": skm.jaccard_score}.items():
        w.case(name, "binary", of(targets, guess), **o)
        w.case(name, "flags", of(targets, guess), **o)
        w.case(name, "chances", of(targets, chance > np.float32(0.3)),
               threshold=float(np.float32(0.3)), from_logits=False, **o)
    matrix = skm.confusion_matrix(targets, guess)
    w.case("confusion", "binary", {f"{i}.{j}": matrix[i, j] for i in range(2)
                                   for j in range(2)}, **o)
    area = skm.roc_auc_score(targets, chance)
    average = skm.average_precision_score(targets, chance)
    for bins in [0, 500]:
        w.case("auroc", "binary", area, bins=bins, **o)
        w.case("pr_auc", "binary", average, bins=bins, **o)
        w.case("auroc", "chances", area, bins=bins, from_logits=False, **o)
    rounded = np.round(chance, 1).astype(np.float32)  # many are equal
    w.data("equal", sizes, scores=rounded, targets=targets)
    w.case("auroc", "equal", skm.roc_auc_score(targets, rounded),
           from_logits=False, **o)
    w.case("pr_auc", "equal", skm.average_precision_score(targets, rounded),
           from_logits=False, **o)


def multilabel(w):
    sizes = w.sizes()
    targets = w.random.integers(0, 2, (sizes.sum(), LABELS))
    logits = (w.random.normal(size=targets.shape) + targets).astype(np.float32)
    w.data("multilabel", sizes, scores=logits, targets=targets)
    x, y = torch.from_numpy(logits), torch.from_numpy(targets)
    chance = torch.sigmoid(x).numpy()
    o = {"task": "multilabel", "classes": LABELS}
    for name, make in {"accuracy": tmc.MultilabelAccuracy,
                       "precision": tmc.MultilabelPrecision,
                       "recall": tmc.MultilabelRecall,
                       "f1": tmc.MultilabelF1Score,
                       "iou": tmc.MultilabelJaccardIndex,
                       "hamming": tmc.MultilabelHammingDistance}.items():
        averages(lambda a: make(LABELS, average=a), None, w, name,
                 "multilabel", x, y, **o)
    w.case("hamming", "multilabel", skm.hamming_loss(targets, chance > 0.5),
           **o)
    w.case("f1", "multilabel", skm.f1_score(targets, chance > 0.5,
                                            average="macro"), **o)
    for bins in [0, 500]:
        w.case("auroc", "multilabel", skm.roc_auc_score(targets, chance),
               bins=bins, **o)
        w.case("pr_auc", "multilabel", skm.average_precision_score(
            targets, chance), bins=bins, **o)
    w.each("auroc", "multilabel", skm.roc_auc_score(targets, chance,
                                                    average=None),
           average="none", **o)


def segmentation(w):
    sizes = w.sizes(4)
    targets = w.random.integers(0, 4, (sizes.sum(), 6, 5))
    logits = np.moveaxis(close_scores(w.random, targets, 4), -1, 1).copy()
    w.data("segmentation", sizes, scores=logits, targets=targets)
    x, y = torch.from_numpy(logits), torch.from_numpy(targets)
    for name, make in {"iou": tmc.MulticlassJaccardIndex,
                       "dice": tmc.MulticlassF1Score,
                       "accuracy": tmc.MulticlassAccuracy}.items():
        averages(lambda a: make(4, average=a), None, w, name, "segmentation",
                 x, y, classes=4)


def language(w):
    sizes = w.sizes(4)
    targets = w.random.integers(-1, VOCABULARY, (sizes.sum(), 9))
    logits = close_scores(w.random, targets, VOCABULARY)
    w.data("language", sizes, scores=logits, targets=targets)
    x, y = torch.from_numpy(logits), torch.from_numpy(targets)
    w.case("perplexity", "language", tmt.Perplexity(ignore_index=-1)(
        x.double(), y), ignore_index=-1)
    w.case("accuracy", "language", tmc.MulticlassAccuracy(
        VOCABULARY, average="micro", ignore_index=-1)(x.movedim(-1, 1), y),
        classes=VOCABULARY, class_axis=-1, ignore_index=-1)


def regression(w):
    sizes = w.sizes()
    targets = (1000 + w.random.normal(size=sizes.sum())).astype(np.float32)
    guess = (targets + 0.5 * w.random.normal(size=sizes.sum())).astype(
        np.float32)
    w.data("regression", sizes, scores=guess, targets=targets)
    x, y = guess.astype(np.float64), targets.astype(np.float64)
    w.case("mse", "regression", skm.mean_squared_error(y, x))
    w.case("rmse", "regression", skm.mean_squared_error(y, x) ** 0.5)
    w.case("mae", "regression", skm.mean_absolute_error(y, x))
    w.case("r2", "regression", skm.r2_score(y, x))
    w.case("loss", "regression", skm.mean_squared_error(y, x))
    w.case("loss_of_items", "regression", skm.mean_squared_error(y, x))
    many = w.random.normal(size=(sizes.sum(), 3)).astype(np.float32)
    near = (many + 0.3 * w.random.normal(size=many.shape)).astype(np.float32)
    mask = w.random.integers(0, 2, many.shape).astype(bool)
    w.data("outputs", sizes, scores=near, targets=many)
    w.data("part", sizes, scores=near, targets=many, mask=mask)
    w.case("r2", "outputs", skm.r2_score(many.astype(np.float64), near),
           outputs=3)
    w.case("r2", "outputs", tmr.R2Score()(
        torch.from_numpy(near).double(), torch.from_numpy(many).double()),
        outputs=3)
    w.case("mse", "part", np.square(near.astype(np.float64) - many)[mask]
           .mean())
    w.case("r2", "part", skm.r2_score(many[mask].astype(np.float64),
                                      near[mask]))


def images(w):
    from skimage.metrics import structural_similarity
    sizes = w.sizes(2)
    n = sizes.sum()
    targets = w.random.random((n, 3, 16, 14)).astype(np.float32)
    guess = np.clip(targets + 0.1 * w.random.normal(size=targets.shape), 0,
                    1).astype(np.float32)
    w.data("images", sizes, scores=guess, targets=targets)
    x, y = torch.from_numpy(guess).double(), torch.from_numpy(targets).double()
    w.case("psnr", "images", tmi.PeakSignalNoiseRatio(data_range=1.0)(x, y),
           range=1)
    # torchmetrics 1 takes windows beyond the border, too; the paper does not.
    similar = [structural_similarity(
        a, b, data_range=1.0, channel_axis=0, gaussian_weights=True, sigma=1.5,
        use_sample_covariance=False) for a, b in zip(x.numpy(), y.numpy())]
    w.case("ssim", "images", np.mean(similar), range=1)


def texts(w):
    import jiwer
    import sacrebleu
    from rouge_score import rouge_scorer
    words = ["the", "cat", "Sat", "on", "mat", "dog", "naïve", "東京", "r2d2",
             "ran", "don't", "fast,", "x"]
    sizes = w.sizes(4)
    predictions, references, others = [], [], []
    for _ in range(int(sizes.sum())):
        line = list(w.random.choice(words, w.random.integers(1, 13)))
        guess = [x if w.random.random() < 0.8 else str(w.random.choice(words))
                 for x in line if w.random.random() < 0.95]
        references.append(" ".join(line))
        predictions.append(" ".join(guess))
        others.append(" ".join(w.random.choice(words, 6)))
    w.texts["texts"] = {"sizes": [int(s) for s in sizes], "others": others,
                        "predictions": predictions, "references": references}
    w.case("wer", "texts", jiwer.wer(references, predictions))
    w.case("cer", "texts", jiwer.cer(references, predictions))
    bleu = lambda lists, **k: sacrebleu.corpus_bleu(
        predictions, lists, tokenize="none", **k).score / 100
    w.case("bleu", "texts", bleu([references]))
    w.case("bleu2", "texts", bleu([references, others]))
    w.case("bleu", "texts", bleu([references], smooth_method="none"),
           smoothing="none")
    w.case("bleu_others", "texts", bleu([others]))
    scorer = rouge_scorer.RougeScorer(["rougeL"])
    scores = [scorer.score(r, p)["rougeL"]
              for r, p in zip(references, predictions)]
    w.case("rouge_l", "texts",
           {"": np.mean([s.fmeasure for s in scores]),
            "precision": np.mean([s.precision for s in scores]),
            "recall": np.mean([s.recall for s in scores])})


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(int(sys.argv[2]), int(sys.argv[3]))
    for make in [multiclass, ignored, binary, multilabel, segmentation,
                 language, regression, images, texts]:
        make(writer)
    np.savez_compressed(folder / "data.npz", **writer.arrays)
    text = json.dumps({"cases": writer.cases, "texts": writer.texts}, indent=0,
                      ensure_ascii=False)
    (folder / "cases.json").write_text(text + "\n")
    print(len(writer.cases), "cases")


if __name__ == "__main__":
    main()
