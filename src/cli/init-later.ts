import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { linesOfKeys } from '../config/lines.ts'
import { type Config, readConfig } from '../config/load.ts'
import { environmentName } from '../config/paths.ts'
import { configFailure, usageFault } from './failure.ts'
import { givenUrl, type InitOptions, SMARTHOST_FILE, settingsOf } from './init-plan.ts'
import { everyAddress, initialConfig } from './init-texts.ts'

/** An option of `init` that an existing config does not contain, and the keys that set it, by dotted path. */
export interface LaterOption {
  option: string
  keys: Record<string, string | boolean>
}

/** Options and the existing config → the options that it does not contain. `init` never changes a config file, which
 *  somebody may have edited. [] if all agree. The keys for a smarthost name a file, because its URL contains a password.
 *  Throws CommandFailure (exit code 2) for an invalid value. */
export function laterOptions(options: InitOptions, config: Config): LaterOption[] {
  const { hostname = config.hostname, contact, https } = options
  const databaseCa = options.databaseCa && resolve(options.databaseCa)
  if (databaseCa !== undefined && config.database.url === '') throw usageFault('database-ca: needs --database')
  const url = givenUrl(options.smarthost)
  const settings = { ...settingsOf(options, hostname), ...(url !== '' && { smarthost: { url } }) }
  const { config: wanted, faults } = readConfig({
    text: initialConfig(settings),
    file: options.config,
    env: process.env,
  })
  if (!wanted) throw configFailure(faults)
  const differs = (of: (config: Config) => unknown) => !isDeepStrictEqual(of(wanted), of(config))
  const later: (LaterOption | false)[] = [
    differs(({ hostname }) => hostname) && { option: 'hostname', keys: { hostname } },
    options.dataDir !== undefined &&
      differs(({ dataDir }) => dataDir) && { option: 'data-dir', keys: { data_dir: wanted.dataDir } },
    databaseCa !== undefined &&
      databaseCa !== config.database.caFile && { option: 'database-ca', keys: { 'database.ca_file': databaseCa } },
    https === true &&
      config.http.listenTls === null && {
        option: 'https',
        keys: {
          'http.listen_tls': `${everyAddress()}:443`,
          'http.listen_redirect': `${everyAddress()}:80`,
          'tls.mode': 'acme',
          'tls.acme_agree_terms': true,
          ...(contact !== undefined && { 'tls.acme_contact': contact }),
        },
      },
    contact !== undefined &&
      differs(({ reports }) => reports.contact) && { option: 'contact', keys: { 'reports.contact': contact } },
    options.dns !== undefined &&
      differs(({ dns }) => dns.provider) && { option: 'dns', keys: { 'dns.provider': options.dns } },
    url !== '' &&
      differs(({ delivery }) => delivery.smarthost) && {
        option: 'smarthost',
        keys: { 'delivery.smarthost_file': SMARTHOST_FILE },
      },
  ]
  return later.filter((each) => each !== false)
}

/** A change of a config file: lines that replace the value in `line` (from 1), that follow that line, or that stand at
 *  the `top` or the `end` of the file. */
export interface Edit {
  place: 'replace' | 'below' | 'top' | 'end'
  line: number
  lines: string[]
}

/** Options and the text of a config → the edits that set their keys, one for each place, from the top to the end. */
export function editsOf(later: readonly LaterOption[], text: string): Edit[] {
  const lineOf = linesOfKeys(text)
  const rows = text.split('\n')
  const edits = new Map<string, Edit>()
  const add = (place: Edit['place'], line: number, section: string, ...added: string[]) => {
    const at = `${place} ${line} ${section}`
    const { lines } = edits.get(at) ?? { lines: place === 'end' ? [`[${section}]`] : [] }
    edits.set(at, { place, line, lines: [...lines, ...added] })
  }
  for (const [path, value] of later.flatMap(({ keys }) => Object.entries(keys))) {
    const section = path.slice(0, Math.max(0, path.lastIndexOf('.')))
    const key = path.slice(section === '' ? 0 : section.length + 1)
    const setting = (name: string) => `${name} = ${JSON.stringify(value)}`
    // A secret can be in the key or in the file that another key names, but not in both.
    const present = lineOf.get(path) ?? lineOf.get(path.replace(/_file$/, ''))
    const above = lineOf.get(section)
    // A key with its whole path, such as `http.listen`, stays one.
    const isDotted = (line: number) => rows[line - 1]?.trimStart().startsWith(`${section}.`) ?? false
    const isHeader = (line: number) => rows[line - 1]?.trimStart().startsWith('[') ?? false
    if (present !== undefined) add('replace', present, '', setting(section !== '' && isDotted(present) ? path : key))
    else if (section === '') add('top', 0, '', setting(key))
    else if (above === undefined) add('end', 0, section, setting(key))
    else add('below', above, '', setting(isHeader(above) ? key : path))
  }
  const order = ({ place, line }: Edit) => (place === 'end' ? Number.POSITIVE_INFINITY : line)
  return [...edits.values()].toSorted((a, b) => (order(a) === order(b) ? 0 : order(a) - order(b)))
}

/** Options that were not applied, and the config file → what to change in it; '' for none. Without a file ('') the
 *  environment variables to set. */
export function laterText(later: readonly LaterOption[], file: string): string {
  if (later.length === 0) return ''
  const names = later.map(({ option }) => `--${option}`).join(', ')
  const path = resolve(file)
  const smarthostFile = join(file === '' ? '/etc/postrider' : dirname(path), SMARTHOST_FILE)
  const relay = later.some(({ option }) => option === 'smarthost')
    ? `Write the URL of the relay to ${smarthostFile}, with mode 600.\n`
    : ''
  if (file === '') {
    const keys = later.flatMap((each) => Object.entries(each.keys))
    const lines = keys.map(([key, value]) => {
      return `  ${environmentName(key)}=${key === 'delivery.smarthost_file' ? smarthostFile : value}\n`
    })
    return `Not applied: ${names}. Set these environment variables and restart the server:\n\n${lines.join('')}${relay}`
  }
  const edits = editsOf(later, existsSync(path) ? readFileSync(path, 'utf8') : '')
  return `Not applied: ${names}. ${path} already exists. Change it and restart the server. Line numbers are those of the present file.\n\n${edits.map(shown).join('')}${relay}`
}

function shown({ place, line, lines }: Edit): string {
  const where = { replace: `Replace line ${line}`, below: `Below line ${line}`, top: 'At the top', end: 'At the end' }
  return `${where[place]}:\n${lines.map((each) => `  ${each}\n`).join('')}`
}
