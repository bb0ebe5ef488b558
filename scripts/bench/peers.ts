import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { runProgram, startProgram } from './process.ts'
import { create, type Server } from './server.ts'

/** The programs around the server: the sending application, external senders, the webhook endpoint. */

export interface LoadResult {
  perSecond: number
  failed: number
}

/** Posts the body in `file` that many times. Rejects when one is not accepted. */
export async function load(
  { http, key }: Pick<Server, 'http' | 'key'>,
  connections: number,
  count: number,
  file: string,
): Promise<LoadResult> {
  const result = await runProgram<LoadResult>('load', http, key, String(connections), String(count), file)
  if (result.failed > 0) throw new Error(`${result.failed} of ${count} requests were not accepted`)
  return result
}

/** Sends the mail in `file` that many times. Rejects when one is not accepted. */
export async function deliver(
  { smtpInbound }: Pick<Server, 'smtpInbound'>,
  connections: number,
  count: number,
  file: string,
  recipient = 'inbox@bench.example',
): Promise<LoadResult> {
  const args = [smtpInbound, String(connections), String(count), file, recipient]
  const result = await runProgram<LoadResult>('sender', ...args)
  if (result.failed > 0) throw new Error(`${result.failed} of ${count} mails were not accepted`)
  return result
}

/** A webhook endpoint on an HTTPS port. */
export async function startReceiver(scratch: string) {
  const { keyPem, certificatePem } = await selfSignedCertificate({ names: ['hooks.example'], now: Date.now() })
  const caFile = join(scratch, 'hooks.pem')
  const keyFile = join(scratch, 'hooks.key')
  writeFileSync(caFile, certificatePem)
  writeFileSync(keyFile, keyPem)
  const receiver = await startProgram('receiver', caFile, keyFile)
  return {
    caFile,
    url: `https://hooks.example:${receiver.first.port}/`,
    posts: async () => (await receiver.ask()).posts!,
    end: receiver.end,
  }
}

/** A mail server that accepts everything. */
export async function startSink() {
  const sink = await startProgram('sink')
  return { port: sink.first.port!, mails: async () => (await sink.ask()).mails!, end: sink.end }
}

/** A webhook for delivery events → its record. */
export function subscribe(server: Server, url: string): Promise<Record<string, string>> {
  return create(server, '/v1/webhooks', { url, events: ['message.delivered', 'message.bounced', 'message.deferred'] })
}
