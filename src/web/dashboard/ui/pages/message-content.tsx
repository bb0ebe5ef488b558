import { useState } from 'preact/hooks'
import { type ApiError, get, getText, type Json, request, save } from '../kit/api.ts'
import { bytes, exact } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { MailFrame } from '../kit/mail-frame.tsx'
import { Empty, Facts, Pending, Tabs } from '../kit/pieces.tsx'
import { attempt } from '../kit/toast.tsx'

/** A message as the recipient sees it, its text, HTML source, headers, raw bytes and attachments. */
export function MessageContent({ message }: { message: Json }) {
  const { id } = message
  const { data, error, reload } = useLoad((signal) => contentOf(id, signal), [id])
  if (error?.status === 404) return <ContentGone error={error} />
  if (data === undefined) return <Pending error={error} onRetry={reload} />
  return (
    <div class="card stack">
      <MessageParts
        html={data.html}
        text={data.text}
        images={data.images}
        name={id}
        rawPath={`/v1/messages/${id}/content?part=raw`}
      />
      {data.attachments.length > 0 && (
        <div class="stack tight">
          <h2>Attachments</h2>
          <div class="row">
            {data.attachments.map((attachment: Json, at: number) => (
              <button
                key={`${at}`}
                type="button"
                onClick={() => attempt(() => downloadAttachment(id, at + 1, attachment.filename))}
              >
                {attachment.filename} <span class="muted small">{bytes(attachment.size_bytes)}</span>
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
  )
}

/** In place of the content of a message that is deleted: why and when. */
export function ContentGone({ error }: { error: ApiError }) {
  const { removed_at: at, reason } = error.details
  return (
    <Empty name="Content deleted">
      <p>
        {at === undefined ? (
          error.message
        ) : (
          <>
            {REASONS[reason]} <time dateTime={at}>{exact(at)}</time>.
          </>
        )}
      </p>
    </Empty>
  )
}

const REASONS: Record<string, string> = {
  request: 'Deleted on request on',
  erasure: 'Deleted with the data of an erased recipient on',
  stream: 'Deleted by the rule of its stream on',
}

/** The parts of a message in tabs; null for one that it does not have. `rawPath` is where the API has the raw message, `name`
 *  that of its downloaded file. */
export function MessageParts({
  html,
  text,
  images = {},
  name,
  rawPath,
}: {
  html: string | null
  text: string | null
  images?: Record<string, string>
  name: string
  rawPath: string
}) {
  const [part, setPart] = useState<Part | null>(null)
  const chosen = part ?? (html === null ? 'text' : 'preview')
  return (
    <Tabs<Part> name="Parts" tabs={PARTS} chosen={chosen} onChoose={setPart}>
      {chosen === 'preview' &&
        (html === null ? <Empty name="No HTML part" /> : <MailFrame html={html} images={images} />)}
      {chosen === 'text' && (text === null ? <Empty name="No text part" /> : <Source text={text} />)}
      {chosen === 'source' && (html === null ? <Empty name="No HTML part" /> : <Source text={html} />)}
      {(chosen === 'headers' || chosen === 'raw') && <Raw name={name} path={rawPath} part={chosen} />}
    </Tabs>
  )
}

type Part = (typeof PARTS)[number][0]
const PARTS = [
  ['preview', 'Preview'],
  ['text', 'Text'],
  ['source', 'HTML source'],
  ['headers', 'Headers'],
  ['raw', 'Raw'],
] as const

/** A text, cut after 200,000 characters: browsers need seconds to lay out megabytes. */
export function Source({ text }: { text: string }) {
  const rest = text.length - MAX_SHOWN
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <pre class="wrap" dir="auto" tabIndex={0}>
      {rest > 0 ? `${text.slice(0, MAX_SHOWN)}\n… ${bytes(rest)} not shown` : text}
    </pre>
  )
}

function Raw({ name, path, part }: { name: string; path: string; part: 'headers' | 'raw' }) {
  const { data, error, reload } = useLoad((signal) => getText(path, {}, signal), [path])
  if (data === undefined) return <Pending error={error} onRetry={reload} />
  if (part === 'headers') return <Headers raw={data} />
  return (
    <div class="stack tight">
      <span>
        <DownloadRaw path={path} name={name} />
      </span>
      <Source text={data} />
    </div>
  )
}

const MAX_SHOWN = 200_000

/** Button that downloads the unchanged bytes, which are not always text. */
function DownloadRaw({ path, name }: { path: string; name: string }) {
  const download = async () => save(`${name}.eml`, 'message/rfc822', await (await request('GET', path)).blob())
  return (
    <button type="button" onClick={() => attempt(download)}>
      Download .eml
    </button>
  )
}

/** The header fields of a raw message, unfolded (RFC 5322 §2.2.3). */
function Headers({ raw }: { raw: string }) {
  const end = raw.search(/\r?\n\r?\n/)
  const fields = raw
    .slice(0, end < 0 ? undefined : end)
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
  return (
    <Facts
      of={fields.map((field, at) => {
        const [name = '', ...rest] = field.split(':')
        return [
          name,
          <code key={`${at}`} class="break">
            {rest.join(':').trim()}
          </code>,
        ] as const
      })}
    />
  )
}

/** Loads the content of a message. `images` are its inline images as data: URLs by Content-ID, without those over 2 MB.
 *  Throws ApiError. */
export async function contentOf(id: string, signal: AbortSignal): Promise<Json> {
  const content = await get(`/v1/messages/${id}/content`, {}, signal)
  const images: Record<string, string> = {}
  for (const [at, { content_id, content_type, size_bytes }] of content.attachments.entries()) {
    if (content_id === null || !/^image\/[\w.+-]+$/.test(content_type) || size_bytes > MAX_IMAGE_BYTES) continue
    images[content_id] = await dataUrl(await bytesOf(id, at + 1, signal), content_type)
  }
  return { ...content, images }
}

const MAX_IMAGE_BYTES = 2_000_000

async function bytesOf(id: string, number: number, signal?: AbortSignal): Promise<Blob> {
  return (await request('GET', `/v1/messages/${id}/attachments/${number}`, { signal })).blob()
}

/** Bytes as a data: URL of this type, whatever the type of the blob. Rejects if they cannot be read. */
export function dataUrl(blob: Blob, type: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(new Blob([blob], { type }))
  })
}

async function downloadAttachment(id: string, number: number, filename: string): Promise<void> {
  save(filename, 'application/octet-stream', await bytesOf(id, number))
}
