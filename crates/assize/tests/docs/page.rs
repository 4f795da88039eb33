//! A page: its fenced blocks, and the steps in them.

use std::collections::BTreeMap;

use libtest_mimic::Failed;

/// The begin of the line in a page that names what its figures depend on.
pub const MEASURED: &str = "*Measured on ";

/// One page.
pub struct Page {
    /// Its path from the root of the tree.
    pub name: String,
    pub lines: Vec<String>,
    pub blocks: Vec<Block>,
}

/// One fenced block.
pub struct Block {
    /// The line of its fence, from 1.
    pub line: usize,
    /// The number of blanks before its fence, which are not part of its lines.
    pub indent: usize,
    /// The language in the fence, and its attributes.
    pub language: String,
    pub attributes: BTreeMap<String, String>,
    pub text: Vec<String>,
    /// The text of the page before the block.
    pub before: String,
    /// The steps for a reader.
    pub steps: Vec<Step>,
}

/// A step for a reader.
pub enum Step {
    /// Write a file.
    File { name: String, text: String },
    /// Run a command.
    Command {
        text: String,
        /// The lines of the page, from 0, that show its output.
        output: std::ops::Range<usize>,
    },
}

impl Page {
    /// Reads the fences of a page.
    pub fn read(name: &str, text: &str) -> Result<Page, Failed> {
        let lines: Vec<String> = text.lines().map(String::from).collect();
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        let mut paragraph = String::new();
        for (at, line) in lines.iter().enumerate() {
            match (line.trim_start().strip_prefix("```"), open.take()) {
                (None, None) if line.trim().is_empty() => {}
                (None, None) => {
                    if at > 0 && lines[at - 1].trim().is_empty() {
                        paragraph.clear();
                    }
                    paragraph.push_str(line);
                    paragraph.push('\n');
                }
                (None, Some(mut block)) => {
                    block.text.push(block.plain(line).to_owned());
                    open = Some(block);
                }
                (Some(info), None) => {
                    let before = std::mem::take(&mut paragraph);
                    let indent = line.len() - line.trim_start().len();
                    open = Some(begin((at + 1, indent), info, before));
                }
                (Some(""), Some(mut block)) => {
                    block.steps =
                        steps(&block).map_err(|why| format!("{name}:{}: {why}", block.line))?;
                    blocks.push(block);
                }
                (Some(_), Some(block)) => {
                    return Err(format!("{name}:{}: a fence without its end", block.line).into());
                }
            }
        }
        if let Some(block) = open {
            return Err(format!("{name}:{}: a fence without its end", block.line).into());
        }
        let name = name.to_owned();
        Ok(Page {
            name,
            lines,
            blocks,
        })
    }

    /// The requirements of the blocks that use the exact machine: QEMU and the kernels named there.
    pub fn needs(&self) -> Vec<String> {
        let mut all = Vec::new();
        for block in &self.blocks {
            let Some(kernels) = block.attributes.get("exact") else {
                continue;
            };
            all.push("QEMU".to_owned());
            all.extend(
                kernels
                    .split(',')
                    .filter(|k| !k.is_empty())
                    .map(|k| format!("kernel {k}")),
            );
        }
        all.sort();
        all.dedup();
        all
    }

    /// The line that names what the page's figures depend on.
    pub fn inputs(&self) -> Option<&str> {
        self.lines
            .iter()
            .find(|line| line.starts_with(MEASURED))
            .map(String::as_str)
    }
}

impl Block {
    /// A line without the indentation of the list item that contains the block.
    pub fn plain<'a>(&self, line: &'a str) -> &'a str {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        &line[blanks.min(self.indent)..]
    }
}

fn begin((line, indent): (usize, usize), info: &str, before: String) -> Block {
    let mut words = info.split_whitespace();
    let language = words.next().unwrap_or_default().to_owned();
    let attributes = words
        .map(|word| {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            (key.to_owned(), value.to_owned())
        })
        .collect();
    Block {
        line,
        indent,
        language,
        attributes,
        text: Vec::new(),
        before,
        steps: Vec::new(),
    }
}

fn steps(block: &Block) -> Result<Vec<Step>, String> {
    if let Some(name) = block.attributes.get("title") {
        let text = block.text.join("\n") + "\n";
        return Ok(vec![Step::File {
            name: name.clone(),
            text,
        }]);
    }
    if block.language != "console" {
        return Ok(Vec::new());
    }
    let mut steps: Vec<Step> = Vec::new();
    for (at, line) in block.text.iter().enumerate() {
        // The fence is line `block.line` counted from 1, so the line after it has that
        // number counted from 0.
        let at = block.line + at;
        if let Some(command) = line.strip_prefix("$ ") {
            let text = command.to_owned();
            let output = at + 1..at + 1;
            steps.push(Step::Command { text, output });
            continue;
        }
        let Some(Step::Command { text, output }) = steps.last_mut() else {
            return Err(format!("a console begins with a command, not with: {line}"));
        };
        if output.start == output.end && (line == ">" || line.starts_with("> ")) {
            text.push('\n');
            text.push_str(line.get(2..).unwrap_or_default());
            *output = at + 1..at + 1;
        } else {
            output.end = at + 1;
        }
    }
    if steps.is_empty() {
        return Err("a console without a command".into());
    }
    Ok(steps)
}
