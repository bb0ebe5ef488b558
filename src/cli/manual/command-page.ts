import { bold, entry, heading, italic, listing, plain, subheading, title } from './roff.ts'
import { allOf, type Flag, type Node } from './tree.ts'

/** The command line → postrider(1). */
export function commandPage(root: Node, version: string): string {
  const { name, about } = root
  const leaves = allOf(root).filter(({ children }) => children.length === 0)
  return [
    title(name.toUpperCase(), 1, version),
    heading('NAME'),
    `${name} \\- ${plain('transactional email you own')}`,
    heading('SYNOPSIS'),
    `${bold(name)} ${italic('command')} [${italic('options')}]`,
    heading('DESCRIPTION'),
    plain(about),
    '.PP',
    plain(
      'Commands that read the store work beside a running server and without one. Started by root, they do their work as the owner of the data directory.',
    ),
    heading('COMMANDS'),
    ...leaves.map(commandText),
    heading('EXIT STATUS'),
    ...EXIT_STATUS.map(([code, meaning]) => entry(bold(code), meaning)),
    heading('SIGNALS'),
    entry(
      bold('SIGTERM, SIGINT'),
      'Nothing new is accepted; what is in flight has 30 seconds to end. A second one does not wait.',
    ),
    entry(bold('SIGHUP'), 'Log level and certificates are read again.'),
    heading('ENVIRONMENT'),
    entry(bold('POSTRIDER_CONFIG'), 'The config file, where --config does not name it.'),
    entry(bold('POSTRIDER_<SECTION>_<KEY>'), 'Any key of the config, above the file.'),
    entry(bold('CREDENTIALS_DIRECTORY'), 'Secrets from systemd: files named like their key, as delivery.smarthost.'),
    entry(bold('NO_COLOR'), 'No colours on a terminal.'),
    heading('FILES'),
    entry(italic('/etc/postrider/config.toml'), 'The config.'),
    entry(italic('/var/lib/postrider'), 'The data directory: database, keys, certificates.'),
    heading('EXAMPLES'),
    plain('Look at it, with nothing leaving the machine:'),
    listing('postrider try'),
    plain('Set a server up, and see a first mail arrive:'),
    listing(
      'postrider init --domain example.com --hostname mail.example.com\npostrider send --from hello@example.com --to ann@customer.example --subject Hello --text Hello --wait 30',
    ),
    heading('SEE ALSO'),
    `${bold('postrider-config')}(5), ${bold('systemctl')}(1), ${bold('journalctl')}(1)`,
  ].join('\n')
}

const EXIT_STATUS = [
  ['0', 'Done.'],
  ['1', 'Failed.'],
  ['2', 'Usage, or a fault in the config.'],
  ['3', 'The data directory is served already.'],
  ['130', 'Interrupted by Ctrl-C.'],
] as const

function commandText({ path, about, options, operands }: Node): string {
  const own = options.filter(({ names }) => !names.includes('--help'))
  const head = subheading(['postrider', path, ...operands].join(' '))
  return [head, plain(sentence(about)), ...own.map((option) => entry(bold(option.flags), optionText(option)))].join(
    '\n',
  )
}

function optionText({ about, isRequired, value, fallback, environment }: Flag): string {
  const words = [sentence(about)]
  if (value !== null && value.choices.length > 0) words.push(`One of ${value.choices.join(', ')}.`)
  if (isRequired) words.push('Required.')
  if (fallback !== '') words.push(`Without it: ${fallback}.`)
  if (environment !== '') words.push(`Also from ${environment}.`)
  return words.join(' ')
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
