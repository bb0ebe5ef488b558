import { type Command, InvalidArgumentError, Option } from 'commander'
import { isNear } from '../net/near-url.ts'
import { usageFault } from './failure.ts'
import { readText } from './given-files.ts'

/** Access to a server over HTTP, for commands that also work on the local database. */

/** A server and an API key of it. */
export interface Server {
  url: URL
  key: string
}

/** Adds `--url` and `--key-file` to a command that is an operation of the API, and sets its option `server`: null = the
 *  local database. A command whose own `--url` means something else takes the server from POSTRIDER_URL only. */
export function withServer(command: Command): Command {
  const hasOwnUrl = command.options.some(({ long }) => long === '--url')
  if (!hasOwnUrl) command.addOption(serverOption('run this on another server over HTTP, with an API key'))
  command.addOption(KEY_FILE)
  return command.hook('preAction', (_, action) => {
    action.setOptionValue('server', serverOf(action, hasOwnUrl))
  })
}

const KEY_FILE = new Option('--key-file <file>', 'file with the API key for --url; otherwise POSTRIDER_API_KEY has it')

/** The server of `--url`, else of POSTRIDER_URL unless the command names a config; null for neither. Throws
 *  CommandFailure (exit code 2) for contradicting options and without a key. */
function serverOf(command: Command, hasOwnUrl: boolean): Server | null {
  const { keyFile } = command.opts<{ keyFile?: string }>()
  const isNamed = !hasOwnUrl && command.getOptionValueSource('url') === 'cli'
  const isLocal = command.getOptionValueSource('config') === 'cli'
  if (isNamed && isLocal) throw usageFault('url: --url and --config exclude each other')
  const url = hasOwnUrl ? environmentUrl() : command.opts<{ url?: URL }>().url
  if (url !== undefined && !isLocal) {
    return { url, key: requireKey(url, keyFile === undefined ? process.env.POSTRIDER_API_KEY : keyIn(keyFile)) }
  }
  if (keyFile !== undefined) throw usageFault('key-file: needs --url or POSTRIDER_URL')
  return null
}

function environmentUrl(): URL | undefined {
  const { POSTRIDER_URL: text } = process.env
  return text === undefined ? undefined : serverUrl(text)
}

/** The key in a file, without white space around it. Throws CommandFailure (exit code 2). */
export function keyIn(file: string): string {
  return readText('key-file', file).trim()
}

const serverOption = (about: string) => new Option('--url <url>', about).env('POSTRIDER_URL').argParser(serverUrl)

/** The options of `listen`, which reads events only. */
export function serverOptions(): Option[] {
  return [
    serverOption('read events from this server over HTTP instead of the local database'),
    new Option('--api-key <key>', 'API key for --url; prefer the environment variable').env('POSTRIDER_API_KEY'),
    KEY_FILE,
  ]
}

function serverUrl(text: string): URL {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '') return url
  throw new InvalidArgumentError('Expected the URL of a server, such as https://mail.example.com.')
}

/** Returns a valid API key. Every request contains it, so it must not cross a public network unencrypted. Throws
 *  CommandFailure (exit code 2). */
export function requireKey(url: URL, key: string | undefined): string {
  if (!isNear(url))
    throw usageFault(
      'url: expected https://, or http:// to localhost or a private address, because each request carries the API key',
    )
  if (key !== undefined && /^svc_(?:live|test)_[0-9A-Za-z]+$/.test(key)) return key
  throw usageFault('url: expected an API key (svc_…) in POSTRIDER_API_KEY or --key-file')
}

/** URL of a server, with or without `/v1` → the URL of a path of its API, such as `/v1/templates`. */
export function apiUrl(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = `${withoutVersion(base.pathname)}${path}`
  return url
}

/** Removes trailing slashes and a trailing `/v1` from the path of the server URL. */
function withoutVersion(path: string): string {
  const bare = withoutFinalSlashes(path)
  return bare.endsWith('/v1') ? withoutFinalSlashes(bare.slice(0, -'/v1'.length)) : bare
}

function withoutFinalSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}
