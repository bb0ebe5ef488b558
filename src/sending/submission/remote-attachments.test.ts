import { expect, test } from 'bun:test'
import { Refusal } from '../../model/refusal.ts'
import { createRemoteAttachments } from './remote-attachments.ts'
import type { RemoteFile } from './remote-files.ts'
import type { GivenRequest } from './request.ts'

const GONE: RemoteFile = { kind: 'failed', why: 'the server answered 404' }

function openFor(requests: readonly GivenRequest[], file: RemoteFile = GONE) {
  const files = { maxBytes: 9, get: async () => file, use: () => true, begin: async () => true, close: () => {} }
  return createRemoteAttachments({ open: () => files }).open('org_1', requests)
}

function requestWith(count: number): GivenRequest {
  const attachment = { url: 'https://a.example/x', filename: null, contentType: null, contentId: null }
  return { attachments: Array.from({ length: count }, () => attachment) } as unknown as GivenRequest
}

test('a batch lists at most 500 faults, however small the slices that complete it', async () => {
  const requests = Array.from({ length: 500 }, () => requestWith(100))
  const attachments = openFor(requests)
  let listed = 0
  for (let at = 0; at < requests.length; at += 4) {
    for (const each of await attachments.complete(requests.slice(at, at + 4))) {
      expect(each).toBeInstanceOf(Refusal)
      listed += (each as Refusal).faults?.length ?? 0
    }
  }
  expect(listed).toBe(500)
  const [alone] = await openFor([requestWith(100)]).complete([requestWith(100)])
  expect((alone as Refusal).faults).toHaveLength(100)
})
