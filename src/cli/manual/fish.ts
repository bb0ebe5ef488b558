import { allOf, type Flag, type Node } from '../../web/manual/command-tree.ts'

/** Command tree → completion script for fish. */
export function fishCompletion(root: Node): string {
  const nodes = allOf(root)
  const at = `__${root.name}_at`
  const withValue = nodes
    .flatMap(({ options }) => options.filter(({ value }) => value !== null))
    .flatMap(({ names }) => names)
  const complete = (node: Node, rest: string) => `complete -c ${root.name} -n '${`${at} ${node.path}`.trim()}' ${rest}`
  return `# fish completion for ${root.name}

# Tests for a command path on the line. Ignores options, their values, and operands after a complete command.
function ${at}
    set -l path
    set -l isValue 0
    for word in (commandline -opc)[2..]
        if test $isValue = 1
            set isValue 0
        else if contains -- $word ${[...new Set(withValue)].join(' ')}
            set isValue 1
        else if not string match -q -- '-*' $word
            contains -- "$path" ${nodes
              .filter(({ children, path }) => children.length === 0 && path !== '')
              .map(({ path }) => quoted(path))
              .join(' ')}; or set path (string trim "$path $word")
        end
    end
    test "$path" = "$argv"
end

complete -c ${root.name} -f
${nodes
  .flatMap((node) => [
    ...node.children.map((child) => complete(node, `-a ${child.name} -d ${quoted(child.about)}`)),
    ...node.options.map((option) => complete(node, optionWords(option))),
  ])
  .join('\n')}`
}

function optionWords({ names, about, value }: Flag): string {
  const named = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ')
  return `${named} ${value === null ? '' : `${valueWords(value)} `}-d ${quoted(about)}`
}

function valueWords({ name, choices }: NonNullable<Flag['value']>): string {
  if (choices.length > 0) return `-x -a ${quoted(choices.join(' '))}`
  if (name === 'file') return '-r -F'
  return name === 'folder' ? "-x -a '(__fish_complete_directories)'" : '-x'
}

const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
