import { Writable } from 'node:stream'
import { readXml } from '../../mail/xml.ts'
import { messageOf } from '../../os/thrown.ts'
import { discard, errorIn, readBody, type S3, S3Failure, type S3Request } from '../../storage/objects/s3-requests.ts'
import { CommandFailure } from '../failure.ts'

/** Writes an object of any size, which exists when the stream has finished, and not before: in one request if it is small,
 *  otherwise in parts, which are removed if the stream fails. The stream fails with CommandFailure. Amazon S3, "Uploading
 *  and copying objects using multipart upload" */
export function uploadTo(service: S3, key: string): { to: Writable; bytes: () => number } {
  let bytes = 0
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let parts: Parts | null = null

  const take = () => {
    const part = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    return part
  }
  const addPart = async () => {
    parts ??= await beginParts(service, key)
    await parts.add(take())
  }
  const to = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      bytes += chunk.byteLength
      waiting.push(chunk)
      waitingBytes += chunk.byteLength
      settle(async () => void (waitingBytes >= PART_BYTES && (await addPart())), done)
    },
    final: (done) =>
      settle(async () => {
        if (parts === null) return discard(await ask(service, { method: 'PUT', key, body: take() }))
        if (waitingBytes > 0) await addPart()
        await parts.end()
      }, done),
    destroy: (error, done) => {
      const dropped = error === null ? undefined : parts?.drop()
      void Promise.resolve(dropped).finally(() => done(error))
    },
  })
  return { to, bytes: () => bytes }
}

interface Parts {
  add(part: Buffer<ArrayBuffer>): Promise<void>
  end(): Promise<void>
  /** Removes them. Never rejects: the service removes what is left after some days, if its owner wants that. */
  drop(): Promise<void>
}

async function beginParts(service: S3, key: string): Promise<Parts> {
  const begun = await ask(service, { method: 'POST', key, query: { uploads: '' } })
  const uploadId = textOf('UploadId', await readText(begun))
  if (uploadId === '') throw new S3Failure('the service began no upload')
  const tags: string[] = []
  return {
    add: async (body) => {
      const query = { partNumber: String(tags.length + 1), uploadId }
      const response = await ask(service, { method: 'PUT', key, query, body })
      const tag = response.headers.get('etag') ?? ''
      await discard(response)
      if (!TAG.test(tag)) throw new S3Failure('the service returned no tag of a part')
      tags.push(tag)
    },
    end: async () => {
      const list = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join('')
      const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`
      const text = await readText(await ask(service, { method: 'POST', key, query: { uploadId }, body }))
      // A failure after the head of the answer comes with status 200.
      const { code, message } = errorIn(text)
      if (code !== null) throw new S3Failure(`${code}: ${message}`, { code })
    },
    drop: () => {
      const signal = AbortSignal.timeout(DROP_MS)
      return service.ask({ method: 'DELETE', key, query: { uploadId }, signal }).then(discard, () => {})
    },
  }
}

/** Every request of an upload may be repeated. */
async function ask(service: S3, request: S3Request): Promise<Response> {
  for (let tries = 1; ; tries++) {
    try {
      return await service.ask({ ...request, signal: AbortSignal.timeout(REQUEST_MS) })
    } catch (error) {
      const isFinal = error instanceof S3Failure && !error.isTemporary
      if (isFinal || tries === MOST_TRIES) throw error
      await Bun.sleep(tries * 1_000)
    }
  }
}

async function readText(response: Response): Promise<string> {
  return new TextDecoder().decode(await readBody(response, MOST_ANSWER_BYTES))
}

/** The text of an element in XML; '' without it. Throws XmlFault. */
function textOf(element: string, xml: string): string {
  let found = ''
  readXml(xml, {
    open: () => {},
    close: (name, text) => {
      if (name === element) found = text
    },
  })
  return found
}

function settle(work: () => Promise<void>, done: (error?: Error) => void): void {
  work().then(
    () => done(),
    (error) => done(new CommandFailure(`object storage: ${messageOf(error)}`)),
  )
}

/** Bytes of one part; the service allows 10,000 parts. */
const PART_BYTES = 16 * 1024 * 1024
const MOST_TRIES = 3
/** A part at 30 kB/s. */
const REQUEST_MS = 600_000
/** The command waits for it after a failure. */
const DROP_MS = 10_000
const MOST_ANSWER_BYTES = 65_536
/** It becomes part of XML. */
const TAG = /^"?[\w+/=-]{1,200}"?$/
