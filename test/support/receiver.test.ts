import { afterEach, expect, test } from 'bun:test'
import { type Receiver, startReceiver } from './receiver.ts'

let receiver: Receiver
afterEach(() => receiver.stop())

const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${receiver.url}?a=1`, { method: 'POST', body, headers, tls: { ca: receiver.ca }, redirect: 'manual' })

test('a receiver plays its script over verified TLS and records its requests', async () => {
  receiver = await startReceiver(500, { status: 302, headers: { location: '/x' } }, { status: 200, body: 'thanks' })
  const answers = [await post('ä1', { 'X-Thing': 'yes' }), await post('2'), await post('3'), await post('4')]
  expect(answers.map((answer) => answer.status)).toEqual([500, 302, 200, 200])
  expect(answers[1]!.headers.get('location')).toBe('/x')
  expect(await answers[3]!.text()).toBe('thanks')
  await receiver.received(4)
  expect(receiver.requests.map((request) => request.body)).toEqual(['ä1', '2', '3', '4'])
  expect(receiver.requests[0]).toMatchObject({ method: 'POST', path: '/hook?a=1' })
  expect(receiver.requests[0]!.headers['x-thing']).toBe('yes')
  expect(receiver.requests[0]!.bytes.length).toBe(3)
})

test('a hanging request is answered on demand', async () => {
  receiver = await startReceiver('hang')
  const answer = post('1')
  await receiver.received(1)
  receiver.release(204)
  expect((await answer).status).toBe(204)
})
