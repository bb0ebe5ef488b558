import type { Attachment } from '../../mail/content.ts'
import { fileName, typeByName } from '../../mail/file-name.ts'
import { type FieldFault, Refusal } from '../../model/refusal.ts'
import * as checks from './checks.ts'
import { MAX_URLS, type RemoteFile, type RemoteFiles, type RequestFiles } from './remote-files.ts'
import type { GivenRequest, RemoteAttachment, SubmissionRequest } from './request.ts'

/** Completes requests by downloading their attachments. */
export interface RemoteAttachments {
  /** Runs `work` with the complete request, and then releases the memory of its files. Rejects with the Refusal of
   *  `complete`, or as `work` does. */
  withComplete<T>(
    organizationId: string,
    request: GivenRequest,
    work: (complete: SubmissionRequest) => Promise<T>,
  ): Promise<T>
  /** Opens the downloads of one request to the API, for all its messages. */
  open(organizationId: string, requests: readonly (GivenRequest | Refusal)[]): OpenAttachments
}

export interface OpenAttachments {
  /** Requests → the same with the content of every attachment, in order. A Refusal is returned as it is. A request
   *  becomes a Refusal if a file cannot be downloaded (validation_error with every such attachment), if files are too
   *  large (payload_too_large), or if the server is busy (unavailable). Never rejects. */
  complete(requests: readonly (GivenRequest | Refusal)[]): Promise<(SubmissionRequest | Refusal)[]>
  /** Releases the memory of the files. */
  close(): void
}

/** Creates RemoteAttachments from RemoteFiles. */
export function createRemoteAttachments(remoteFiles: RemoteFiles): RemoteAttachments {
  const open: RemoteAttachments['open'] = (organizationId, requests) => {
    const files = remoteFiles.open(organizationId, urlsOf(requests))
    const maxFaults = Math.ceil(MAX_FAULTS / requests.length)
    return { complete: (given) => completeAll(given, files, maxFaults), close: () => files.close() }
  }
  return {
    open,
    withComplete: async (organizationId, request, work) => {
      if (isComplete(request)) return work(request)
      const attachments = open(organizationId, [request])
      try {
        const [complete] = await attachments.complete([request])
        if (complete === undefined || complete instanceof Refusal) throw complete
        return await work(complete)
      } finally {
        attachments.close()
      }
    },
  }
}

/** Whether no attachment has to be downloaded. */
export function isComplete(request: GivenRequest): request is SubmissionRequest {
  return request.attachments.every((attachment) => !isRemote(attachment))
}

function isRemote(attachment: Attachment | RemoteAttachment): attachment is RemoteAttachment {
  return 'url' in attachment
}

function urlsOf(requests: readonly (GivenRequest | Refusal)[]): Set<string> {
  const attachments = requests.flatMap((each) => (each instanceof Refusal ? [] : each.attachments))
  return new Set(attachments.filter(isRemote).map(({ url }) => url))
}

async function completeAll(
  requests: readonly (GivenRequest | Refusal)[],
  files: RequestFiles,
  maxFaults: number,
): Promise<(SubmissionRequest | Refusal)[]> {
  const { maxBytes } = files
  const found = await Promise.all(requests.map((request) => filesOf(request, files)))
  let usedBytes = 0
  const completed = requests.map((request, at) => {
    if (request instanceof Refusal || isComplete(request)) return request
    const own = found[at] ?? []
    const refusal = refusalOf(request, own, { maxBytes, maxFaults })
    if (refusal !== null) return refusal
    const sizeBytes = own.reduce((sum, file) => sum + (file?.kind === 'file' ? file.bytes.byteLength : 0), 0)
    if (!files.use(sizeBytes)) return tooLarge('attachments', 'The files for this request have', maxBytes)
    usedBytes += sizeBytes
    return withFiles(request, own)
  })
  if (await files.begin(usedBytes)) return completed
  return completed.map((each, at) => (each === requests[at] || each instanceof Refusal ? each : busy()))
}

/** The file of each attachment; null for one that is complete. */
async function filesOf(request: GivenRequest | Refusal, files: RequestFiles): Promise<(RemoteFile | null)[]> {
  if (request instanceof Refusal || isComplete(request)) return []
  return Promise.all(request.attachments.map((each) => (isRemote(each) ? files.get(each.url) : null)))
}

/** Why the request cannot be completed, or null. Permanent causes come first. */
function refusalOf(
  request: GivenRequest,
  found: readonly (RemoteFile | null)[],
  { maxBytes, maxFaults }: { maxBytes: number; maxFaults: number },
): Refusal | null {
  const faults = request.attachments.flatMap((attachment, at): FieldFault[] => {
    const file = found[at]
    const why = file && isRemote(attachment) ? whyNot(attachment, file) : null
    return why === null ? [] : [{ field: urlField(at), message: `${urlField(at)} cannot be downloaded: ${why}` }]
  })
  const [first] = faults
  if (first !== undefined) {
    const message = faults.length === 1 ? first.message : `${faults.length} attachments cannot be downloaded`
    const details = { reason: 'download_failed' }
    const listed = faults.slice(0, maxFaults)
    return new Refusal('validation_error', message, { field: first.field, faults: listed, details })
  }
  const largeAt = found.findIndex((file) => file?.kind === 'too_large')
  if (largeAt >= 0) return tooLarge(urlField(largeAt), `The file at ${urlField(largeAt)} has`, maxBytes)
  return found.some((file) => file?.kind === 'busy') ? busy() : null
}

/** Why a downloaded file is not what the attachment means, or why there is none; null for other causes. */
function whyNot({ filename, contentType }: RemoteAttachment, file: RemoteFile): string | null {
  if (file.kind === 'failed') return file.why
  if (file.kind === 'too_many') return `one request can download at most ${MAX_URLS} different files`
  if (file.kind !== 'file') return null
  if (file.bytes.byteLength === 0) return 'the file is empty'
  // A page for signing in, or with an error, that came with status 200.
  const expected = contentType ?? (filename === null ? UNKNOWN_TYPE : typeByName(filename))
  const isOther = expected !== UNKNOWN_TYPE && !HTML.test(expected)
  return isOther && HTML.test(file.contentType ?? '') ? `the server answered with an HTML page, not ${expected}` : null
}

/** Faults listed for all messages of a batch together, in all its slices; each message lists its first one. The
 *  response is stored for a day (web/api/routes/messages-send.ts). */
const MAX_FAULTS = 500

const urlField = (at: number) => `attachments[${at}].url`

function tooLarge(field: string, whatHas: string, maxBytes: number): Refusal {
  const message = `${whatHas} more than ${maxBytes} bytes. Send less, or a link.`
  return new Refusal('payload_too_large', message, { field, details: { limit_bytes: maxBytes } })
}

function busy(): Refusal {
  return new Refusal('unavailable', 'Too many downloads at once. Try again in a few seconds.', { retryAfterSeconds: 5 })
}

function withFiles(request: GivenRequest, found: readonly (RemoteFile | null)[]): SubmissionRequest {
  const attachments = request.attachments.flatMap((attachment, at): Attachment[] => {
    if (!isRemote(attachment)) return [attachment]
    const file = found[at]
    return file?.kind === 'file' ? [attachmentOf(attachment, file, at + 1)] : []
  })
  return { ...request, attachments }
}

/** The file with the name and type that the request gives it, else with those of its URL and its server. */
function attachmentOf(
  { url, filename, contentType, contentId }: RemoteAttachment,
  file: Extract<RemoteFile, { kind: 'file' }>,
  number: number,
): Attachment {
  const said = file.contentType !== null && checks.contentTypeFault(file.contentType) === null ? file.contentType : null
  const name = filename ?? nameOf(url, said ?? UNKNOWN_TYPE, number)
  const isKnown = said !== null && !VAGUE_TYPE.test(said)
  return {
    filename: name,
    contentType: contentType ?? (isKnown ? said : typeByName(name)),
    contentId,
    content: file.bytes,
  }
}

/** The last segment of the URL's path as a file name; `attachment-1.pdf` without a usable one. */
function nameOf(url: string, contentType: string, number: number): string {
  const segment = URL.parse(url)?.pathname.split('/').at(-1) ?? ''
  const [bareType = ''] = contentType.split(';')
  const name = fileName(decoded(segment), bareType.trim().toLowerCase(), number)
  return checks.filenameFault(name) === null ? name : fileName('', bareType.trim().toLowerCase(), number)
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const UNKNOWN_TYPE = 'application/octet-stream'
/** Types of files whose server does not know them. */
const VAGUE_TYPE = /^(?:application|binary)\/octet-stream\b/i
const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i
