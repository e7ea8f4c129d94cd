# notebook.awk TOOLKIT LABS KERNEL.cu... - prints a Jupyter notebook (nbformat 4.5) for Colab: it gets the students'
# kit and what that needs; then each lab has a cell that writes its kernel.cu, with the starter, and one that grades.
# device: the simulated GPU that the course counts, or "".

function json(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    gsub(/\t/, "\\t", text)
    return "\"" text
}

# Begins a cell with its first line; line() adds more.
function cell(kind, text) {
    end_cell()
    printf "%s\n  {\n   \"cell_type\": \"%s\",\n   \"id\": \"cell-%d\",\n   \"metadata\": {},\n", (cells++ ? "," : ""), kind, cells
    if (kind == "code")
        printf "   \"execution_count\": null,\n   \"outputs\": [],\n"
    printf "   \"source\": [\n    %s", json(text)
    open = 1
}

function line(text) {
    printf "\\n\",\n    %s", json(text)
}

function end_cell() {
    if (open)
        printf "\"\n   ]\n  }"
    open = 0
}

function grade_cell() {
    if (lab != "")
        cell("code", "!make grade LAB=" lab (device != "" ? " DEVICE=" device : ""))
}

BEGIN {
    printf "{\n \"nbformat\": 4,\n \"nbformat_minor\": 5,\n \"metadata\": {\n  \"kernelspec\": { \"display_name\": \"Python 3\", \"language\": \"python\", \"name\": \"python3\" },\n  \"language_info\": { \"name\": \"python\" },\n  \"colab\": { \"provenance\": [] }\n },\n \"cells\": ["
    cell("markdown", "# Warpbook")
    line("")
    line("Run the two cells below once: they take some minutes. No GPU is needed: the grader has a simulated one.")
    line("Then write each lab's kernel in its cell, run the cell, and grade. Save this notebook: Colab deletes the rest.")
    cell("code", "#@title Get the workbook { display-mode: \"form\" }")
    line("ADDRESS = \"\" #@param {type:\"string\"}")
    line("# The address of the course's kit (.tar.gz), or of a git repository (.git). Empty: upload the kit.")
    line("import os, shutil, subprocess")
    line("os.chdir(\"/content\")")
    line("if ADDRESS.endswith(\".git\"):")
    line("    subprocess.run([\"git\", \"clone\", \"--depth\", \"1\", ADDRESS, \"warpbook\"], check=True)")
    line("else:")
    line("    if ADDRESS:")
    line("        subprocess.run([\"curl\", \"-fsSL\", \"-o\", \"kit.tar.gz\", ADDRESS], check=True)")
    line("    else:")
    line("        from google.colab import files")
    line("        os.replace(next(iter(files.upload())), \"kit.tar.gz\")")
    line("    subprocess.run([\"tar\", \"-xzf\", \"kit.tar.gz\"], check=True)")
    line("os.chdir(\"warpbook\")")
}

FILENAME == ARGV[1] {
    cell("code", "#@title Install and build { display-mode: \"form\" }")
    line("if not (shutil.which(\"nvcc\") or os.path.exists(\"/usr/local/cuda/bin/nvcc\")):")
    line("    install = \".warpbook-kit/install.sh\" if os.path.exists(\".warpbook-kit\") else \"grader/kits/install.sh\"")
    line("    subprocess.run([\"bash\", install, \"" $0 "\"], check=True)")
    line("!make programs")
    next
}

FILENAME == ARGV[2] { next }

FNR == 1 {
    grade_cell()
    count = split(FILENAME, part, "/")
    lab = part[count - 1]
    cell("markdown", "## " lab)
    line("")
    line("The lesson is `labs/" lab "/README.md`: open it in the file browser on the left.")
    cell("code", "%%writefile labs/" lab "/kernel.cu")
}

{ line($0) }

END {
    grade_cell()
    cell("code", "!make progress")
    end_cell()
    printf "\n ]\n}\n"
}
