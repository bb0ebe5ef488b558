import { isDeepStrictEqual } from 'node:util'
import { type Config, readConfig } from '../config/load.ts'
import { configFailure } from './failure.ts'
import { givenUrl, type InitOptions, SMARTHOST_FILE, settingsOf } from './init-plan.ts'
import { httpsLines, initialConfig } from './init-texts.ts'

/** An option of `init` that an existing config does not contain, and the lines that set it. */
export interface LaterOption {
  option: string
  lines: string
}

/** Options and the existing config → the options that it does not contain. `init` never changes a config file, which
 *  somebody may have edited. [] if all agree. The lines for a smarthost name a file, because its URL contains a password.
 *  Throws CommandFailure (exit code 2) for an invalid value. */
export function laterOptions(options: InitOptions, config: Config): LaterOption[] {
  const { hostname = config.hostname, contact, https } = options
  const url = givenUrl(options.smarthost)
  const settings = { ...settingsOf(options, hostname), ...(url !== '' && { smarthost: { url } }) }
  const { config: wanted, faults } = readConfig({
    text: initialConfig(settings),
    file: options.config,
    env: process.env,
  })
  if (!wanted) throw configFailure(faults)
  const line = (key: string, value: unknown) => `${key} = ${JSON.stringify(value)}`
  const differs = (of: (config: Config) => unknown) => !isDeepStrictEqual(of(wanted), of(config))
  const later: (LaterOption | false)[] = [
    differs(({ hostname }) => hostname) && { option: 'hostname', lines: line('hostname', hostname) },
    options.dataDir !== undefined &&
      differs(({ dataDir }) => dataDir) && { option: 'data-dir', lines: line('data_dir', wanted.dataDir) },
    https === true && config.http.listenTls === null && { option: 'https', lines: httpsLines(contact) },
    contact !== undefined &&
      differs(({ reports }) => reports.contact) && {
        option: 'contact',
        lines: `[reports]\n${line('contact', contact)}`,
      },
    url !== '' &&
      differs(({ delivery }) => delivery.smarthost) && {
        option: 'smarthost',
        lines: `[delivery]\n# A file that contains the URL and that only the server can read\n${line('smarthost_file', SMARTHOST_FILE)}`,
      },
  ]
  return later.filter((each) => each !== false)
}

/** Options that were not applied, and the config file → what to write into it; '' for none. */
export function laterText(later: readonly LaterOption[], file: string): string {
  if (later.length === 0) return ''
  const names = later.map(({ option }) => `--${option}`).join(', ')
  const lines = later.map((each) => each.lines).join('\n\n')
  return `Not applied: ${names}. ${file} already exists. Set these keys in it and restart the server:\n\n${lines}\n`
}
