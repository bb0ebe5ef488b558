import { allOf, type Flag, type Node } from '../../web/manual/command-tree.ts'
import { bold, entry, heading, italic, listing, plain, subheading, title } from './roff.ts'

/** Command tree → man page postrider(1), as man(7) source. */
export function commandPage(root: Node, version: string): string {
  const { name, about } = root
  const leaves = allOf(root).filter(({ children }) => children.length === 0)
  return [
    title(name.toUpperCase(), 1, version),
    heading('NAME'),
    `${name} \\- ${plain('self-hosted transactional email')}`,
    heading('SYNOPSIS'),
    `${bold(name)} ${italic('command')} [${italic('options')}]`,
    heading('DESCRIPTION'),
    plain(about),
    '.PP',
    plain(
      'Commands that use the database work whether or not the server runs. When root runs them, they switch to the owner of the data directory.',
    ),
    heading('COMMANDS'),
    ...leaves.map(commandText),
    heading('EXIT STATUS'),
    ...EXIT_STATUS.map(([code, meaning]) => entry(bold(code), meaning)),
    heading('SIGNALS'),
    entry(
      bold('SIGTERM, SIGINT'),
      'Stop the server. It accepts no new work and has 30 seconds to finish what is in progress. A second signal stops it immediately.',
    ),
    entry(bold('SIGHUP'), 'Reload the log level and the certificates.'),
    heading('ENVIRONMENT'),
    entry(bold('POSTRIDER_CONFIG'), 'The config file, if --config is not set.'),
    entry(bold('POSTRIDER_<SECTION>_<KEY>'), 'Any config key. Overrides the config file.'),
    entry(
      bold('CREDENTIALS_DIRECTORY'),
      'Directory of systemd credentials: files named after their key, such as delivery.smarthost.',
    ),
    entry(bold('NO_COLOR'), 'Disable colours.'),
    heading('FILES'),
    entry(italic('/etc/postrider/config.toml'), 'The config file.'),
    entry(italic('/var/lib/postrider'), 'The data directory: database, keys and certificates.'),
    heading('EXAMPLES'),
    plain('Try it; nothing leaves the machine:'),
    listing('postrider try'),
    plain('Set up a server and send a first message:'),
    listing(
      'postrider init --domain example.com --hostname mail.example.com\npostrider send --from hello@example.com --to ann@customer.example --subject Hello --text Hello --wait 30',
    ),
    heading('SEE ALSO'),
    `${bold('postrider-config')}(5), ${bold('systemctl')}(1), ${bold('journalctl')}(1)`,
  ].join('\n')
}

const EXIT_STATUS = [
  ['0', 'Success.'],
  ['1', 'The command failed.'],
  ['2', 'Usage or config error.'],
  ['3', 'Another server uses the data directory.'],
  ['4', 'Other nodes of the installation ended this one and continue its work. Start it again.'],
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
  if (fallback !== '') words.push(`Default: ${fallback}.`)
  if (environment !== '') words.push(`Environment variable: ${environment}.`)
  return words.join(' ')
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
