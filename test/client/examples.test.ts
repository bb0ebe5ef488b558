import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReceivedRequest } from '../support/receiver.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { MAIL, startTestServer, type TestServer } from '../support/server.ts'
import { type Installed, installClient, ROOT, RUNTIMES } from './installed.ts'

/** Runs scripts/examples with the packed client, and sends them the webhook requests of a real server. */
let installed: Installed
let remote: RemoteMx
let server: TestServer
const undo: (() => unknown)[] = []

beforeAll(async () => {
  installed = installClient('express', 'hono', 'elysia')
  for (const name of EXAMPLES) copyFileSync(join(ROOT, 'scripts/examples', name), join(installed.folder, name))
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
})
afterAll(async () => {
  for (const step of undo) await step()
  await server.close()
  await remote.stop()
  installed.remove()
})

/** A webhook request that is signed now: the examples use the real clock, and refuse one that is older than five minutes. */
async function report(): Promise<ReceivedRequest> {
  const { clock, receiver } = server
  clock.jump(Date.now() - clock.now())
  const before = receiver.requests.length
  await server.send({ ...MAIL, to: 'bounce+grüße@customer.example' }, { authorization: `Bearer ${server.keys.test}` })
  await receiver.received(before + 1)
  return receiver.requests.at(-1)!
}

const EXAMPLES = ['express.mjs', 'hono.mjs', 'elysia.mjs', 'next-route.mjs']
const bun = RUNTIMES.filter(([name]) => name === 'Bun')
for (const [file, runtimes] of [
  ['express.mjs', RUNTIMES],
  ['hono.mjs', bun],
  ['elysia.mjs', bun],
] as const) {
  for (const [runtime, command] of runtimes) {
    // threat: forged-webhooks-at-receiver
    test(`${file} on ${runtime} accepts genuine calls, and answers 401 to all others`, async () => {
      const { post, prints } = await start(command, file)
      const { body, headers } = await report()
      const signature = signatureOf(headers)
      expect(await post(body, signature)).toEqual([204, ''])
      await prints('message.bounced')
      expect(await post(body.replace('hard', 'soft'), signature)).toEqual([401, WRONG])
      expect((await post(body, {}))[0]).toBe(401)
    })
  }
}

for (const [runtime, command] of RUNTIMES) {
  test(`next-route.mjs on ${runtime} does the same`, async () => {
    writeFileSync(join(installed.folder, 'next.mjs'), NEXT)
    const { body, headers } = await report()
    const env = { ...environment(), REQUEST: JSON.stringify([signatureOf(headers), body]) }
    const child = Bun.spawn([...command, 'next.mjs'], { cwd: installed.folder, env, stdout: 'pipe', stderr: 'inherit' })
    expect(await new Response(child.stdout).text()).toBe(`message.bounced\n204 \n401 ${WRONG}\n`)
  })
}

/** Calls the handler of a route as Next.js does. */
const NEXT = `
import process from 'node:process'
import { POST } from './next-route.mjs'
const [headers, body] = JSON.parse(process.env.REQUEST)
for (const each of [body, body.replace('hard', 'soft')]) {
  const answer = await POST(new Request('https://shop.example/hook', { method: 'POST', headers, body: each }))
  console.log(answer.status, await answer.text())
}`
const WRONG =
  'X-Service-Signature does not match the body and secret. Check that the secret is correct and the body is unmodified.'
const environment = () => ({
  PATH: process.env.PATH!,
  HOME: installed.folder,
  WEBHOOK_SECRET: server.webhook.secret,
  PORT: '0',
})

function signatureOf(headers: ReceivedRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(x-service|webhook|content-type)/.test(name)))
}

/** Starts an example. `prints` checks that its next line of output is the text. */
async function start(runtime: string[], file: string) {
  const child = Bun.spawn([...runtime, file], {
    cwd: installed.folder,
    env: environment(),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  undo.push(() => child.kill())
  const lines = linesOf(child.stdout)
  const port = Number((await lines.next()).value!.split(' ').at(-1))
  return {
    async prints(text: string) {
      expect((await lines.next()).value).toBe(text)
    },
    async post(body: string, headers: Record<string, string>): Promise<[number, string]> {
      const answer = await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', headers, body })
      return [answer.status, await answer.text()]
    },
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let pending = ''
  const decoder = new TextDecoder()
  for await (const part of stream) {
    pending += decoder.decode(part, { stream: true })
    for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
      yield pending.slice(0, end)
      pending = pending.slice(end + 1)
    }
  }
}
