import { afterEach, expect, test } from 'bun:test'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { uploadTo } from '../../src/cli/backup/upload.ts'
import { type S3, s3 } from '../../src/storage/objects/s3-requests.ts'

/** A backup in parts, to a service that answers as a test wants. */

const started: ReturnType<typeof Bun.serve>[] = []
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop(true)
})
function serve(respond: (request: Request) => Response | Promise<Response>) {
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      asked.push(`${request.method} ${pathname}${search}`)
      return respond(request)
    },
  })
  started.push(server)
  const endpoint = `http://127.0.0.1:${server.port}`
  const service = s3({ bucket: 'mail', endpoint, region: '', accessKeyId: 'an id', secretAccessKey: 'a secret' })
  return { asked, endpoint, service }
}
/** A service that takes parts; `ends`: its answer to the last request. */
const taking = (ends: () => Response) =>
  serve(({ method, url }) => {
    if (url.endsWith('?uploads='))
      return new Response('<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>')
    if (method === 'POST') return ends()
    return new Response('', { headers: { etag: '"abc"' } })
  })
/** Writes to an upload, and waits until it has closed after a failure. */
async function upload(data: AsyncIterable<Buffer> | Iterable<Buffer>, service: S3, key = 'x'): Promise<number> {
  const { to, bytes } = uploadTo(service, key)
  const closed = once(to, 'close')
  await pipeline(data, to).finally(() => closed)
  return bytes()
}
/** 20 MB, which are two parts. */
async function* twoParts(ending: () => void = () => {}) {
  for (let n = 0; n < 20; n++) yield Buffer.alloc(1_000_000)
  ending()
}

test('goes in parts, whose tags complete it', async () => {
  const { service, asked } = taking(() => new Response('<CompleteMultipartUploadResult/>'))
  expect(await upload(twoParts(), service, 'a/b')).toBe(20_000_000)
  expect(asked).toEqual([
    'POST /mail/a/b?uploads=',
    'PUT /mail/a/b?partNumber=1&uploadId=u1',
    'PUT /mail/a/b?partNumber=2&uploadId=u1',
    'POST /mail/a/b?uploadId=u1',
  ])
})

test('that breaks leaves no parts behind', async () => {
  const { service, asked } = taking(() => new Response(''))
  const breaking = twoParts(() => {
    throw new Error('the disk failed')
  })
  await expect(upload(breaking, service)).rejects.toThrow('the disk failed')
  expect(asked.at(-1)).toBe('DELETE /mail/x?uploadId=u1')
})

test('whose end fails with status 200 is no backup', async () => {
  const { service, asked } = taking(
    () => new Response('<Error><Code>InternalError</Code><Message>no</Message></Error>'),
  )
  await expect(upload(twoParts(), service)).rejects.toThrow('object storage: InternalError: no')
  expect(asked.at(-1)).toBe('DELETE /mail/x?uploadId=u1')
})

// threat: hostile-object-storage
test('does not follow a redirect, which would take the secrets in a backup to another server', async () => {
  const other = serve(() => new Response(''))
  for (const data of [[Buffer.from('a secret')], twoParts()]) {
    const { service } = serve(() => Response.redirect(`${other.endpoint}/x`, 307))
    await expect(upload(data, service)).rejects.toThrow('Redirects are not followed')
  }
  expect(other.asked).toEqual([])
})

test('is tried again when the service is busy', async () => {
  let isBusy = true
  const { service, asked } = serve(() => {
    const answer = isBusy ? new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 }) : new Response('')
    isBusy = false
    return answer
  })
  await upload([Buffer.from('x')], service)
  expect(asked).toEqual(['PUT /mail/x', 'PUT /mail/x'])
})
