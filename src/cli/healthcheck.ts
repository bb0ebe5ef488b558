import { type Config, formatEndpoint } from '../config/load.ts'
import { requireConfig } from './cli-context.ts'
import { CommandFailure, toFailure } from './failure.ts'
import { print } from './print.ts'
import { hasEnded, readServing } from './serving.ts'

/** Requests /readyz of the running server and prints "ready". Throws CommandFailure if no server runs on the data
 *  directory, or if it is not ready, does not respond within `timeout` seconds, or has no HTTP listener. */
export async function healthcheck(options: { config: string; timeout: number }): Promise<void> {
  await requireReady(requireConfig(options.config), options.timeout * 1000)
  print('ready')
}

/** The same for a parsed config, without printing. */
export async function requireReady(config: Config, timeoutMs: number): Promise<void> {
  const url = `${originOf(config)}/readyz`
  // Another server may use the same port.
  if (hasEnded(config.dataDir)) throw new CommandFailure(`no server runs with data_dir ${config.dataDir}`)
  const answer = await ask(url, timeoutMs)
  if (answer.status !== 200) throw new CommandFailure(`${url}: ${answer.status} ${await answer.text()}`)
}

async function ask(url: string, timeoutMs: number): Promise<Response> {
  try {
    // The URL has an IP address, which is not in the certificate. The request contains no secret.
    const tls = { rejectUnauthorized: false }
    return await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual', tls })
  } catch (thrown) {
    const reason = toFailure(thrown)?.message ?? (thrown instanceof Error ? thrown.message : String(thrown))
    throw new CommandFailure(`${url}: no response (${reason})`)
  }
}

/** Origin of the server: the address in serving.json, where port 0 is resolved, or else that of the config. Plain HTTP
 *  takes precedence. Throws CommandFailure if both listeners are off. */
function originOf({ dataDir, http }: Config): string {
  const served = readServing(dataDir)?.listeners
  const clear = served?.http ?? (http.listen && formatEndpoint(http.listen))
  if (clear) return `http://${ownAddress(clear)}`
  const secure = served?.https ?? (http.listenTls && formatEndpoint(http.listenTls))
  if (secure) return `https://${ownAddress(secure)}`
  throw new CommandFailure('http.listen and http.listen_tls are "off". Turn one of them on to use the health check.')
}

/** Replaces the wildcard address with loopback. */
const ownAddress = (address: string) => address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')
