/** A command with its options and subcommands, for completion scripts, man pages and the reference. */
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

/** The node and all its descendants, parents first. */
export function allOf(node: Node): Node[] {
  return [node, ...node.children.flatMap(allOf)]
}
