import { afterAll, beforeAll, expect, test } from 'bun:test'
import { camelCased, snakeCased } from '../../src/client/camel.ts'
import { Postrider, type PostriderCamel, ValidationError } from '../../src/client/index.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { type Json, MAIL, startTestServer, type TestServer } from '../support/server.ts'

/** The TypeScript client with names in camelCase, against a real server. */
let remote: RemoteMx
let server: TestServer
let client: PostriderCamel
beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
  const baseUrl = `http://${server.running().listening.http}`
  client = new Postrider({ baseUrl, apiKey: server.keys.test, camelCase: true, timeoutMs: PATIENCE_MS })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const { from, subject, html } = MAIL
const BOUNCING = { from, subject, html, to: 'bounce@customer.example' }

test('requests and responses have camelCase names, and maps keep theirs', async () => {
  const metadata = { order_id: '7', orderKind: 'gift' }
  const headers = { 'X-Order_Kind': 'giftCard' }
  const mail = { ...BOUNCING, metadata, headers, replyTo: 'help@sender.example' }
  const sent = await client.messages.send(mail, { waitSeconds: 30 })
  expect(sent.createdAt).toMatch(/^2026-/)
  const message = await client.messages.get(sent.id)
  expect(message.metadata).toEqual(metadata)
  expect(message.recipients[0]).toMatchObject({ bounceType: 'hard', smtpResponse: expect.any(String) })
  expect(Object.keys(message).filter((name) => name.includes('_'))).toEqual([])
  expect((await client.messages.content(sent.id)).headers).toMatchObject(headers)
  expect((await client.messages.waitFor(sent.id)).createdAt).toBe(message.createdAt)
  expect(await client.messages.content(sent.id, { part: 'html' })).toBe(html)

  const template = await client.templates.create({ name: 'Hi', text: '{{ user_name }}', sample: { user_name: 'Ann' } })
  expect([template.updatedAt, template.sample]).toEqual([template.createdAt, { user_name: 'Ann' }])
  const { text } = await client.templates.render(template.id, { variables: { user_name: 'Bob' } })
  expect(text).toBe('Bob')
  const locales = { 'pt-BR': { text: 'Olá' } }
  expect((await client.templates.update(template.id, { locales })).locales['pt-BR']).toMatchObject({ text: 'Olá' })
})

test('lists, pages and streams have them, and errors name the fields of the API', async () => {
  const { id } = await client.messages.send({ ...BOUNCING, tags: ['camel'] })
  await server.ended(id)
  for await (const message of client.messages.list({ tag: 'camel' })) expect(message.createdAt).toMatch(/^2026-/)
  const page = await client.messages.list({ tag: 'camel' }).page()
  expect([page.data[0]?.id, page.has_more]).toEqual([id, false])
  for await (const event of client.events.stream({ after: '', messageId: id, types: ['message.bounced'] })) {
    if (event.type === 'message.bounced') expect(event.data.messageId).toBe(id)
    break
  }
  const { error } = await client.messages.send({ ...BOUNCING, replyTo: 'nobody' }).safe()
  expect(error).toBeInstanceOf(ValidationError)
  expect(error?.field).toBe('reply_to')
})

test('every name of the API survives both ways', async () => {
  const { origin } = new URL(`http://${server.running().listening.http}`)
  const document = await (await fetch(`${origin}/openapi.json`)).json()
  const names = new Set<string>()
  const visit = (schema: Json): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const name of Object.keys(schema.properties ?? {})) names.add(name)
    for (const each of Object.values(schema)) visit(each)
  }
  visit(document)
  expect(names.size).toBeGreaterThan(200)
  for (const name of names) expect(snakeCased(camelCased({ [name]: 1 }))).toEqual({ [name]: 1 })
  const others = [new Date(0), Uint8Array.of(1), null, 'a_b', [1, 'a_b']]
  expect(snakeCased(others)).toEqual(others)
})
