import type { Command, Option } from 'commander'

/** A command with its options and subcommands, for completion scripts and man pages. */
export interface Node {
  /** Names of the command and its parents, without the program's name: `key create`; '' for the program. */
  readonly path: string
  readonly name: string
  readonly about: string
  readonly options: readonly Flag[]
  /** As in the synopsis: `<name>`, `[id]`, `<to...>`. */
  readonly operands: readonly string[]
  readonly children: readonly Node[]
}

/** An option of a command. */
export interface Flag {
  /** As in the help text: `-V, --version`, `--config <file>`. */
  readonly flags: string
  readonly names: readonly string[]
  readonly about: string
  readonly isRequired: boolean
  /** The option's value with its placeholder and choices; null if the option takes no value. */
  readonly value: { readonly name: string; readonly choices: readonly string[] } | null
  readonly isRepeatable: boolean
  /** Default value as text; '' for none. */
  readonly fallback: string
  readonly environment: string
}

/** Builds the tree of a program from its commands, without hidden commands and options and without `help`. */
export function treeOf(program: Command, above = ''): Node {
  const help = program.createHelp()
  const name = program.name()
  const path = program.parent === null ? '' : `${above} ${name}`.trim()
  return {
    path,
    name,
    about: program.description(),
    options: help.visibleOptions(program).map(flagOf),
    operands: program.registeredArguments.map((each) => {
      const term = help.argumentTerm(each)
      const inner = each.variadic ? `${term}...` : term
      return each.required ? `<${inner}>` : `[${inner}]`
    }),
    children: help
      .visibleCommands(program)
      .filter((each) => each.name() !== 'help')
      .map((each) => treeOf(each, path)),
  }
}

/** The node and all its descendants, parents first. */
export function allOf(node: Node): Node[] {
  return [node, ...node.children.flatMap(allOf)]
}

function flagOf(option: Option): Flag {
  const { flags, short, long, description, mandatory, required, argChoices = [], defaultValue, envVar } = option
  const placeholder = /[<[]([^<>[\]]+)[>\]]/.exec(flags)?.[1] ?? ''
  return {
    flags,
    names: [short, long].filter((each) => each !== undefined),
    about: description,
    isRequired: mandatory && required,
    value: required ? { name: placeholder.replace('...', ''), choices: argChoices } : null,
    isRepeatable: /repeatable/.test(description),
    fallback: defaultValue === undefined ? '' : String(defaultValue),
    environment: envVar ?? '',
  }
}
