import { expect, test } from 'bun:test'
import { createTestApi } from '../support/api.ts'

// threat: burst-of-requests
test.each(['/v1/messages/send', '/v1/messages/analyze'])(
  'failed requests to %s give their turns to the next',
  async (path) => {
    const { own, other, ask, close } = await createTestApi()
    const fail = (key: string) => ask('POST', path, { key, body: { subject: 1 } })
    await fail(other.keys.admin.value) // while another organization sends too, requests of one take turns
    const answers = await Promise.all(Array.from({ length: 10 }, () => fail(own.keys.admin.value)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(400))
    await close() // not if requests still wait: it would wait for them
  },
)
