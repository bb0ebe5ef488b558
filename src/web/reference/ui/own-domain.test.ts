import { expect, test } from 'bun:test'
import { withSender } from './own-domain.ts'

test('the sender of a message and of each in a batch gets the domain of the key', () => {
  const body = { from: 'Shop <shop@example.com>', to: 'ann@example.com', subject: 'x' }
  expect(withSender(body, 'northwind.example')).toEqual({ ...body, from: 'Shop <shop@northwind.example>' })
  expect(withSender({ messages: [body, { from: 'a@b.c' }] }, 'd.example')).toEqual({
    messages: [{ ...body, from: 'Shop <shop@d.example>' }, { from: 'a@d.example' }],
  })
})

test('a body without a sender stays as it is, as does every body without a domain', () => {
  const range = { from: '2026-11-21T12:00:00Z', to: '2026-11-22T12:00:00Z' }
  expect(withSender(range, 'd.example')).toEqual(range)
  expect(withSender({ from: 'a@b.c' }, null)).toEqual({ from: 'a@b.c' })
  expect([undefined, null, 'x'].map((body) => withSender(body, 'd.example'))).toEqual([undefined, null, 'x'])
})
