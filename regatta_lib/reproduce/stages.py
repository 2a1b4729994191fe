"""A stage is a notebook of the same name, executed by papermill with typed, checked parameters.

Papermill and Jupyter are imported where a stage runs: they take seconds, and verification needs neither.
"""

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regatta_lib.base import ContractError, Params, RegattaError, hint, paths, read_params, write_atomic, yaml_value

if TYPE_CHECKING:
    import nbformat

# jsonschema, which nbformat needs, compiles a grammar of IRIs on import if this optional package is there. That takes
# 2.6 seconds per stage and notebooks have no IRIs to check; None makes the optional import fail.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # what Python documents for this

KERNEL = "python3"


class StageError(RegattaError):
    """A stage failed. The message is one line: the stage, the cell and the error."""


def declared_parameters(notebook: "nbformat.NotebookNode", path: Path) -> set[str]:
    """The names assigned in the notebook's one cell tagged ``parameters``, in whatever form Python allows.

    papermill.inspect_notebook would miss some, without an error: it skips a line with two "=" and a type with "|".
    Raises ContractError for no such cell, for several, and for one that is no Python.
    """
    cells = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise ContractError(f"{path}: {len(cells)} cells tagged 'parameters', expected 1")
    try:
        statements = ast.parse(cells[0].source).body
    except SyntaxError as error:
        problem = f"line {error.lineno}: {error.msg}, expected assignments in Python"
        raise ContractError(f"{path}: the cell tagged 'parameters', {problem}") from None
    plain = [target for node in statements if isinstance(node, ast.Assign) for target in node.targets]
    targets = [*plain, *(node.target for node in statements if isinstance(node, ast.AnnAssign))]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def parameters_for(stage: str, params: Params, declared: set[str], path: Path) -> dict[str, object]:
    """The values of a notebook's parameters: those of ``base`` it declares, and all of its own section.

    Raises ContractError where params.yaml and the notebook's parameters cell do not name the same things.
    """
    shared = {name: value for name, value in params.base.model_dump().items() if name in declared}
    values = shared | params.of(stage)
    for name in sorted(declared ^ values.keys()):
        where = "in the notebook but not in params.yaml" if name in declared else "in params.yaml but not in the notebook"
        raise ContractError(f"{path}: parameter {name!r} is {where}")
    return values


def check_kernel() -> None:
    """Make sure the kernel the notebooks name exists and is this very Python."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        executable = KernelSpecManager().get_kernel_spec(KERNEL).argv[0]
    except NoSuchKernel:
        raise StageError(f"no Jupyter kernel named {KERNEL}; 'make setup' installs it in .venv") from None
    if Path(executable).is_absolute() and Path(executable) != Path(sys.executable):
        raise StageError(f"kernel {KERNEL} runs {executable}, expected {sys.executable}; run 'make setup'")


def canonical(notebook: "nbformat.NotebookNode") -> str:
    """The committed form of an executed notebook: outputs kept, everything that changes from run to run removed."""
    import nbformat

    notebook = nbformat.from_dict(notebook)
    notebook.cells = [cell for cell in notebook.cells if "injected-parameters" not in cell.metadata.get("tags", [])]
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": KERNEL},
            "language_info": {"name": "python"},
        }
    )
    count = 0
    for number, cell in enumerate(notebook.cells, start=1):
        cell["id"] = f"cell-{number:02d}"
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = count
    return str(nbformat.writes(notebook, version=4)).rstrip("\n") + "\n"


def run_stage(stage: str, params_file: Path = paths.PARAMS) -> Path:
    """Execute the notebook of a stage and keep the executed copy, in canonical form, in ``notebooks/executed``.

    Raises ContractError for a wrong parameter and StageError, naming the cell, for a failing notebook.
    """
    import nbformat
    import papermill

    source = paths.NOTEBOOKS / f"{stage}.ipynb"
    known = sorted(path.stem for path in paths.NOTEBOOKS.glob("*.ipynb"))
    if stage not in known:
        raise ContractError(f"{source}: no such stage, expected one of {', '.join(known)}")
    declared = declared_parameters(nbformat.read(source, as_version=4), source)
    values = parameters_for(stage, read_params(params_file), declared, source)
    check_kernel()
    paths.EXECUTED.mkdir(parents=True, exist_ok=True)
    target = paths.EXECUTED / f"{stage}.ipynb"
    try:
        executed = papermill.execute_notebook(
            source,
            None,
            parameters=values,
            kernel_name=KERNEL,
            cwd=paths.ROOT,
            progress_bar=False,
            extra_arguments=["--log-level=CRITICAL"],
            shutdown_kernel="immediate",
        )
    except papermill.exceptions.PapermillExecutionError as error:
        missing = re.fullmatch(r"No module named '(\w+)'", error.evalue)
        cause = hint(missing[1]) if missing else None
        raise StageError(f"{source}: cell {error.exec_count}: {cause or f'{error.ename}: {error.evalue}'}") from None
    except RuntimeError as error:  # the kernel did not start, or died
        raise StageError(f"{source}: {error}") from None
    write_atomic(target, canonical(executed))
    return target


def stages_in(root: Path) -> dict[str, dict[str, Any]]:
    """The stages of dvc.yaml, as it states them. Raises ContractError if it states none."""
    found = yaml_value(root / "dvc.yaml")
    stages = found.get("stages") if isinstance(found, dict) else None
    if not isinstance(stages, dict) or not all(isinstance(stage, dict) for stage in stages.values()):
        raise ContractError(f"{root / 'dvc.yaml'}: no stages, expected a mapping 'stages' of name to stage")
    return stages


def outputs_of(stage: dict[str, Any]) -> list[str]:
    """The outputs and metrics of a stage, as paths below the root."""
    declared = [entry for kind in ("outs", "metrics") for entry in stage.get(kind, [])]
    return [entry if isinstance(entry, str) else next(iter(entry)) for entry in declared]


def pipeline_outputs(root: Path) -> list[str]:
    """The outputs and metrics of all stages of dvc.yaml, and dvc.lock itself, as paths below the root, sorted."""
    return sorted({"dvc.lock", *(name for stage in stages_in(root).values() for name in outputs_of(stage))})
