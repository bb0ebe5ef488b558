import { expect, test } from 'bun:test'
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
      timeoutMs: 5_000,
    } as const
    expect((await https.files({ ...job, as: 'file' })).kind).toBe('blocked')
    expect([https.state().runners, https.fileState().runners]).toEqual([0, 1])
  } finally {
    https.stop()
  }
})
