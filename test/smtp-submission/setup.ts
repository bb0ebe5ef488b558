import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { silentLog } from '../../src/os/log.ts'
import { createSmtpListener } from '../../src/receiving/smtp-server/listener.ts'
import type { SmtpHandler } from '../../src/receiving/smtp-server/session.ts'
import { LIMITS } from '../../src/receiving/smtp-server/settings.ts'
import { createSubmissionHandler } from '../../src/receiving/smtp-submission/smtp-handler.ts'
import { parsingHere } from '../../src/server/parsing/parsing.ts'
import { createSmtpLogin } from '../../src/server/smtp-login.ts'
import { openMessageApi } from '../api/messages-setup.ts'

/** The submission handler over a real store and real sockets, with an ordinary mail library as its client. */
export async function openRelay(options: Parameters<typeof openMessageApi>[0] = {}) {
  const server = await openMessageApi(options)
  const { api, submission, clock } = server
  const handler = createSubmissionHandler({
    ...parsingHere(),
    submission,
    idempotencyKeys: api.idempotencyKeys,
    clock,
    login: createSmtpLogin(api),
    takeRate: (key, now) => api.rateLimit.take(key, now),
  })
  const starttls = await openListener(handler, 'starttls', clock)
  const client = (password = server.keys.live, change: object = {}) =>
    createTransport({ ...clientOptions(starttls.port, password), ...change })

  const pools = new Map<string, ReturnType<typeof client>>()

  return {
    ...server,
    handler,
    client,
    /** Sends over a connection that is kept for the next; rejects with the server's reply as `response`. */
    handIn: async (mail: SendMailOptions, password = server.keys.live): Promise<string> => {
      const kept = pools.get(password) ?? client(password, { pool: true })
      pools.set(password, kept)
      return (await kept.sendMail(mail)).response
    },
    close: async () => {
      for (const pool of pools.values()) pool.close()
      await starttls.stop()
      await server.close()
    },
  }
}

export async function openListener(
  handler: SmtpHandler<never> | SmtpHandler<unknown> | ReturnType<typeof createSubmissionHandler>,
  tls: 'starttls' | 'implicit',
  clock: Parameters<typeof createSmtpListener>[2]['clock'],
) {
  const spoolDir = mkdtempSync(join(tmpdir(), 'postrider-relay-'))
  const settings = {
    hostname: 'mail.postrider.test',
    tls,
    certificate: await ownCertificate(),
    loginNeedsTls: true,
    spoolDir,
    limits: {
      ...LIMITS,
      recipients: 50,
      messageBytes: 5_000_000,
      connections: 100,
      connectionsPerAddress: 100,
    },
  }
  const listener = createSmtpListener(settings, handler as SmtpHandler<unknown>, {
    name: 'submission',
    clock,
    log: silentLog,
  })
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 })
  return {
    port,
    stop: async () => {
      await listener.stop(0)
      rmSync(spoolDir, { recursive: true, force: true })
    },
  }
}

/** As a customer's program connects; the certificate is self-signed. */
export function clientOptions(port: number, password: string) {
  return {
    host: '127.0.0.1',
    port,
    requireTLS: true,
    auth: { user: 'anybody', pass: password },
    tls: { rejectUnauthorized: false },
  }
}

let certificate: Promise<Certificate> | undefined
function ownCertificate(): Promise<Certificate> {
  certificate ??= selfSignedCertificate({ names: ['mail.postrider.test'], now: Date.UTC(2026, 10, 21) })
  return certificate
}

/** Lines with CRLF, header and body. */
export function mailOf(headers: string[], body = 'Hello\r\n'): string {
  return `${headers.join('\r\n')}\r\n\r\n${body}`
}

/** The server's reply to a mail that it refused. */
export async function refusalOf(sending: Promise<unknown>): Promise<string> {
  try {
    return `taken: ${await sending}`
  } catch (error) {
    return (error as { response?: string }).response ?? String(error)
  }
}
