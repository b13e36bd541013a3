"""Train by PyTorch and keep the losses and weights."""

import json
from pathlib import Path

import torch
from scenario import RATE, SIZES, STEPS, STEPS_OF_EPOCH, Scenario, scenario

KEPT = (1, 10, 100, STEPS)


def trained(given: Scenario) -> dict:
    torch.set_default_dtype(torch.float64)
    weights = [torch.tensor(w, requires_grad=True) for w in given.weights]
    biases = [torch.tensor(b, requires_grad=True) for b in given.biases]
    parameters = [p for pair in zip(weights, biases, strict=True) for p in pair]
    optimizer = torch.optim.Adam(parameters, lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)
    loss_of = torch.nn.CrossEntropyLoss(weight=torch.tensor(given.class_weights))
    losses, kept = [], {}
    for step in range(STEPS):
        values = torch.tensor(given.rows[step])
        for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            values = values @ weight + bias
            if i < len(weights) - 1:
                values = torch.relu(values) * torch.tensor(given.masks[step][i])
        loss = loss_of(values, torch.tensor(given.truth[step]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % STEPS_OF_EPOCH == 0:
            schedule.step()
        if step + 1 in KEPT:
            kept[step + 1] = [x for p in parameters for x in p.detach().flatten().tolist()]
    return {"losses": losses, "weights": kept}


if __name__ == "__main__":
    trajectories = {name: trained(scenario(sizes)) for name, sizes in SIZES.items()}
    trajectories["made by"] = f"PyTorch {torch.__version__}"
    Path(__file__).with_name("trajectories.json").write_text(json.dumps(trajectories) + "\n")
