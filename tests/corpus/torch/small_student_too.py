"""Knowledge distillation: teach a two-block DistilBERT what a fine-tuned six-block one answers.

The student never sees the gold labels, only the teacher's soft answers.
"""
import torch
import torch.nn.functional as F
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments, set_seed

CKPT = "assets/distilbert-mini"
T = 3.0
set_seed(50)

tokenizer = AutoTokenizer.from_pretrained(CKPT)
data = load_dataset("assets/nli", "6_labels").map(
    lambda b: tokenizer(b["hypothesis"], truncation=True, max_length=32), batched=True)
collator = DataCollatorWithPadding(tokenizer)


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def arguments(name, **more):
    return TrainingArguments(output_dir=name, per_device_train_batch_size=32, per_device_eval_batch_size=150, logging_steps=20,
                             save_strategy="no", report_to="none", disable_tqdm=True, **more)


# 1. the teacher, ordinary fine-tuning
teacher = AutoModelForSequenceClassification.from_pretrained(CKPT, num_labels=6)
trainer = Trainer(model=teacher, args=arguments("teacher", learning_rate=8e-5, num_train_epochs=2), train_dataset=data["train"],
                  eval_dataset=data["validation_matched"], data_collator=collator, compute_metrics=accuracy)
trainer.train()
print("teacher", trainer.evaluate()["eval_accuracy"])
teacher.eval().requires_grad_(False)

# 2. the student: embeddings, two of the six blocks and both head layers are copied from the teacher
config = teacher.config.__class__(**{**teacher.config.to_dict(), "n_layers": 2})
student = AutoModelForSequenceClassification.from_config(config)
student.distilbert.embeddings.load_state_dict(teacher.distilbert.embeddings.state_dict())
for mine, his in ((0, 0), (1, 5)):
    student.distilbert.transformer.layer[mine].load_state_dict(teacher.distilbert.transformer.layer[his].state_dict())
student.pre_classifier.load_state_dict(teacher.pre_classifier.state_dict())
student.classifier.load_state_dict(teacher.classifier.state_dict())


class Distiller(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        inputs.pop("labels", None)
        outputs = model(**inputs)
        with torch.no_grad():
            soft = F.softmax(teacher(**inputs).logits / T, dim=-1)
        loss = F.kl_div(F.log_softmax(outputs.logits / T, dim=-1), soft, reduction="batchmean") * T * T
        return (loss, outputs) if return_outputs else loss


distiller = Distiller(model=student, args=arguments("student", learning_rate=1e-4, num_train_epochs=3), train_dataset=data["train"],
                      eval_dataset=data["validation_matched"], data_collator=collator, compute_metrics=accuracy)
print("student before", distiller.evaluate()["eval_accuracy"])
distiller.train()
print("student after", distiller.evaluate()["eval_accuracy"])
