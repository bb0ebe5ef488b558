import { expect, test } from 'bun:test'
import type { Operation } from './document.ts'
import { requestOf } from './try-request.ts'

const OPERATION: Operation = {
  id: 'messages_update',
  method: 'PATCH',
  path: '/v1/messages/{message_id}',
  tag: 'Messages',
  summary: '',
  description: '',
  permission: 'send',
  parameters: [
    { name: 'message_id', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'q', in: 'query', schema: { type: 'string' } },
    { name: 'metadata', in: 'query', schema: { type: 'object' } },
    { name: 'Prefer', in: 'header', schema: { type: 'string' } },
  ],
  body: { isRequired: true, schema: {} },
  responses: [],
}
const build = (values: Record<string, string>, body = '{}', operation = OPERATION) =>
  requestOf(operation, { values, body, key: 'svc_test_a' })

test('values become path and query, and the body is sent as it is', () => {
  expect(build({ message_id: 'msg_1', q: 'a&b', Prefer: 'wait=1', metadata: 'x' }, ' {"a": 1} ').request).toEqual({
    path: '/v1/messages/msg_1?q=a%26b',
    method: 'PATCH',
    headers: { authorization: 'Bearer svc_test_a', 'content-type': 'application/json' },
    body: '{"a": 1}',
  })
})

test('a value cannot change the path to another operation or host', () => {
  for (const value of ['../keys', '..\\x', '//attacker.example', '?a=b', '#', '%2e%2e', 'a@b']) {
    const url = new URL(build({ message_id: value }).request!.path, 'https://mail.example.com')
    expect([url.host, url.search, url.pathname.split('/').length]).toEqual(['mail.example.com', '', 4])
    expect(url.pathname).toStartWith('/v1/messages/')
  }
  for (const value of ['.', '..', '']) {
    expect(build({ message_id: value }).faults).toHaveProperty('message_id')
  }
})

test('a missing body, and one that is not JSON, is a fault of the body', () => {
  expect(build({ message_id: 'a' }, '').faults).toEqual({ body: 'Fill in the body.' })
  expect(build({ message_id: 'a' }, '{').faults).toEqual({ body: expect.stringContaining('not valid JSON') })
})

test('without a body there is no content type', () => {
  const optional = { ...OPERATION, body: { isRequired: false, schema: {} } }
  for (const operation of [optional, { ...OPERATION, body: null }]) {
    const { request } = build({ message_id: 'a' }, '', operation)
    expect(request).toEqual({
      path: '/v1/messages/a',
      method: 'PATCH',
      headers: { authorization: 'Bearer svc_test_a' },
    })
  }
})
