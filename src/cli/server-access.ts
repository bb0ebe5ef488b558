import { InvalidArgumentError, Option } from 'commander'
import { isNear } from '../net/near-url.ts'
import { usageFault } from './failure.ts'

/** Access to a server over HTTP, for commands that also work on the local database. */

/** The options `--url` and `--api-key`. */
export function serverOptions(): [Option, Option] {
  return [
    new Option('--url <url>', 'read events from this server over HTTP instead of the local database')
      .env('POSTRIDER_URL')
      .argParser(serverUrl),
    new Option('--api-key <key>', 'API key for --url; prefer the environment variable').env('POSTRIDER_API_KEY'),
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
  throw usageFault('api-key: expected an API key with read permission in POSTRIDER_API_KEY or --api-key')
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
