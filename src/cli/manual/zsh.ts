import { allOf, type Flag, type Node } from '../../web/manual/command-tree.ts'

/** Command tree → completion script for zsh. Install it as `_postrider` in fpath, or source it. */
export function zshCompletion(root: Node): string {
  const name = functionOf(root, root)
  return `#compdef ${root.name}

${allOf(root)
  .map((node) => (node.children.length > 0 ? branch(node, root) : leaf(node, root)))
  .join('\n\n')}

if [ "$funcstack[1]" = ${name} ]; then
  ${name} "$@"
else
  compdef ${name} ${root.name}
fi`
}

function branch(node: Node, root: Node): string {
  const named = node.children.map(({ name, about }) => `'${name}:${escaped(about)}'`)
  const called = node.children.map((child) => `      ${child.name}) ${functionOf(child, root)} ;;`)
  return `${functionOf(node, root)}() {
  local context state line
  local -a commands
  commands=(
    ${named.join('\n    ')}
  )
  _arguments -C ${[...node.options.map(argument), "'1: :->command'", "'*:: :->rest'"].join(' \\\n    ')}
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $words[1] in
${called.join('\n')}
      esac
      ;;
  esac
}`
}

function leaf(node: Node, root: Node): string {
  const operands = node.operands.map((term) => `'${term.includes('...') ? '*' : ''}:${term.replace(/[^\w-]/g, '')}:'`)
  return `${functionOf(node, root)}() {
  _arguments ${[...node.options.map(argument), ...operands].join(' \\\n    ')}
}`
}

/** `(-V --version)'{-V,--version}'[about]:value:action` */
function argument({ names, about, value, isRepeatable }: Flag): string {
  const behind = value === null ? '' : `:${value.name.replaceAll(':', '\\:')}:${actionOf(value)}`
  const text = `[${escaped(about)}]${behind}`
  if (isRepeatable) return names.map((name) => `'*${name}${text}'`).join(' ')
  if (names.length === 1) return `'${names[0]}${text}'`
  return `'(${names.join(' ')})'{${names.join(',')}}'${text}'`
}

function actionOf({ name, choices }: NonNullable<Flag['value']>): string {
  if (choices.length > 0) return `(${choices.join(' ')})`
  return name === 'folder' ? '_files -/' : name === 'file' ? '_files' : ' '
}

const functionOf = ({ path }: Node, root: Node) => `_${`${root.name} ${path}`.trim().replaceAll(/[ -]/g, '_')}`

/** Escapes text for single quotes, brackets and colons. */
const escaped = (text: string) => text.replaceAll(/[\\:[\]]/g, '\\$&').replaceAll("'", "'\\''")
