import { expect, test } from 'bun:test'
import { TEST_LIMIT_MS } from '../../test/support/patience.ts'
import { makeConfig } from '../config/load.ts'
import { silentLog } from '../os/log.ts'
import { openHttps } from './https-clients.ts'

// threat: downloads-beside-webhooks
test('files are downloaded in a thread that nothing else uses', async () => {
  const https = openHttps(makeConfig({ hostname: 'mail.example.com' }), {
    lookups: { servers: ['127.0.0.1:1'] },
    userAgent: 'Postrider/test',
    log: silentLog,
  })
  try {
    const job = {
      url: 'https://127.0.0.1/',
      method: 'GET',
      headers: {},
      body: null,
      maxBytes: 1,
      timeoutMs: TEST_LIMIT_MS,
    } as const
    expect((await https.files({ ...job, as: 'file' })).kind).toBe('blocked')
    expect([https.state().runners, https.fileState().runners]).toEqual([0, 1])
  } finally {
    https.stop()
  }
})
