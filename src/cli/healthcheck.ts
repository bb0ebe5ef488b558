import { type Config, formatEndpoint } from '../config/load.ts'
import { CommandFailure, toFailure } from './failure.ts'
import { requireConfig } from './office.ts'
import { print } from './print.ts'
import { readServing } from './serving.ts'

/** Asks the running server's own listener whether it is ready; ends with 1 when it is not, or says nothing. */
export async function healthcheck(options: { config: string; timeout: number }): Promise<void> {
  const url = `${originOf(requireConfig(options.config))}/readyz`
  const answer = await ask(url, options.timeout * 1000)
  if (answer.status !== 200) throw new CommandFailure(`${url}: ${answer.status} ${await answer.text()}`)
  print('ready')
}

async function ask(url: string, timeoutMs: number): Promise<Response> {
  try {
    // By address, which no certificate names; there is nothing secret to say.
    const tls = { rejectUnauthorized: false }
    return await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual', tls })
  } catch (thrown) {
    const reason = toFailure(thrown)?.message ?? (thrown instanceof Error ? thrown.message : String(thrown))
    throw new CommandFailure(`${url}: no answer (${reason})`)
  }
}

/** Where it listens: as the server said when it started (port 0 became another), else as the config says; in clear where
 *  that is on. */
function originOf({ dataDir, http }: Config): string {
  const told = readServing(dataDir)?.listeners
  const clear = told?.http ?? (http.listen && formatEndpoint(http.listen))
  if (clear) return `http://${ownAddress(clear)}`
  const secure = told?.https ?? (http.listenTls && formatEndpoint(http.listenTls))
  if (secure) return `https://${ownAddress(secure)}`
  throw new CommandFailure('http.listen and http.listen_tls are "off": there is nobody to ask')
}

/** Every address → one of this machine. */
const ownAddress = (address: string) => address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')
