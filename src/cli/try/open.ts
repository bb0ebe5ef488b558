import { join } from 'node:path'
import { readValues } from '../../config/load.ts'
import { FIRST_USER } from '../../model/user.ts'
import { systemClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import { systemRandom } from '../../os/random.ts'
import { ListenFailure } from '../../server/listeners.ts'
import { startServer } from '../../server/server.ts'
import { CommandFailure } from '../failure.ts'
import { localUser } from '../local-user.ts'
import { makeLoginLink } from '../login-link.ts'
import { packedManual } from '../manual/packed.ts'
import { createOperator } from '../operator.ts'
import { HOSTNAME, type PeerEvents, startPeers } from './peers.ts'
import { createRecords, type TryRecords } from './records.ts'

export const RECIPIENT = 'ann@customer.example'

/** Ports on 127.0.0.1; 0 means any free port. */
export interface TryPorts {
  http: number
  inbound: number
  submission: number
}

/** A complete server with DNS, a mail server and a webhook receiver, all on loopback, in a temporary folder. */
export interface TryOut extends TryRecords {
  /** `127.0.0.1:port` of the API. */
  http: string
  baseUrl: string
  /** One-time sign-in link to the dashboard. */
  dashboardUrl: string
  dataDir: string
  mailServer: string
  /** `127.0.0.1:port` for inbound mail and for SMTP submission. */
  smtpInbound: string
  smtpSubmission: string
  stop(): Promise<void>
}

/** Starts the peers, and the server itself with the records of a customer. MX lookups, DKIM and verification use DNS, as
 *  in production. Throws CommandFailure if a port is in use, after it has stopped what it started. */
export async function openTryOut(options: { ports: TryPorts; log: Log } & PeerEvents): Promise<TryOut> {
  const undo: (() => unknown)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    return { ...(await build(options, undo)), stop }
  } catch (error) {
    await stop()
    throw portFailure(error)
  }
}

async function build(
  { ports, log, ...events }: Parameters<typeof openTryOut>[0],
  undo: (() => unknown)[],
): Promise<Omit<TryOut, 'stop'>> {
  const peers = await startPeers(events, undo)
  const { config, settings } = readValues({
    hostname: HOSTNAME,
    data_dir: join(peers.folder, 'data'),
    http: { listen: `127.0.0.1:${ports.http}` },
    smtp: {
      inbound: { listen: `127.0.0.1:${ports.inbound}` },
      submission: { listen: `127.0.0.1:${ports.submission}` },
    },
    inbound: { confirm_forward_targets: false }, // no address of the try-out belongs to another person
    ...peers.sections,
  })
  const server = await startServer(config, { log, settings, manual: packedManual })
  undo.push(() => server.stop())
  const { store } = server
  const operator = createOperator({
    config,
    store,
    clock: systemClock,
    random: systemRandom,
    log,
    user: localUser(),
  })
  undo.push(() => operator.close())
  const records = await createRecords({ store, operator }, peers)
  return {
    http: bound(server.listening.http),
    baseUrl: server.publicUrl,
    dashboardUrl: (await makeLoginLink(store, server.publicUrl, FIRST_USER)).url,
    dataDir: config.dataDir,
    mailServer: `127.0.0.1:${peers.mailServer.port}`,
    smtpInbound: bound(server.listening.smtpInbound),
    smtpSubmission: bound(server.listening.smtpSubmission),
    ...records,
  }
}

/** Address of a listener that the config of the try-out enables. */
function bound(address: string | null): string {
  if (address === null) throw new Error('a listener of the try-out is off')
  return address
}

/** Replaces the config key of a port in the message with the command-line option. */
function portFailure(thrown: unknown): unknown {
  if (!(thrown instanceof ListenFailure)) return thrown
  return new CommandFailure(
    thrown.key === 'http.listen' ? thrown.message.replace('http.listen', 'port') : thrown.message,
  )
}
