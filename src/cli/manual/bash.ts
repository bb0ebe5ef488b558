import { allOf, type Flag, type Node } from '../../web/manual/command-tree.ts'

/** Command tree → completion script for bash 4 or later. The script does not run `postrider`. */
export function bashCompletion(root: Node): string {
  const nodes = allOf(root)
  const withValue = new Set(nodes.flatMap(({ options }) => options.filter(takesValue).flatMap(({ names }) => names)))
  const wordsOf = ({ path, options, children }: Node) => {
    const words = [...children.map(({ name }) => name), ...options.flatMap(({ names }) => names)]
    return `    '${path}') words='${words.join(' ')}' ;;`
  }
  const valuesOf = ({ path, options }: Node) => options.filter(takesValue).flatMap((option) => valueCase(path, option))
  return `# bash completion for ${root.name}

_${root.name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} path='' words='' word i
  COMPREPLY=()
  # bash splits --mode=live into three words.
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in
    ${[...withValue].join(' | ')}) ((i++)) ;;
    -*) ;;
    *)
      case "$path $word" in
${nodes
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      '${path.includes(' ') ? path : ` ${path}`}') path='${path}' ;;`)
  .join('\n')}
      esac
      ;;
    esac
  done
  case "$path $prev" in
${nodes.flatMap(valuesOf).join('\n')}
  esac
  case $path in
${nodes.map(wordsOf).join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _${root.name} ${root.name}`
}

const takesValue = ({ value }: Flag) => value !== null

/** Completions for an option's value: its choices, files, or nothing. */
function valueCase(path: string, { names, value }: Flag): string {
  const pattern = names.map((name) => `'${path} ${name}'`).join(' | ')
  const offer = (words: string) => `  ${pattern}) ${words} ;;`
  const { name = '', choices = [] } = value ?? {}
  if (choices.length > 0) {
    return offer(`mapfile -t COMPREPLY < <(compgen -W '${choices.join(' ')}' -- "$cur"); return`)
  }
  const kind = name === 'folder' ? '-d' : name === 'file' ? '-f' : null
  if (kind === null) return offer('return')
  return offer(`compopt -o filenames; mapfile -t COMPREPLY < <(compgen ${kind} -- "$cur"); return`)
}
