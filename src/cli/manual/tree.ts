import type { Command, Option } from 'commander'
import type { Flag, Node } from '../../web/manual/command-tree.ts'

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
