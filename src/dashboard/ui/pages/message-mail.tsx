import { useState } from 'preact/hooks'
import { ask as askApi, get, getText, type Json, save } from '../kit/api.ts'
import { bytes } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { MailFrame } from '../kit/mail-frame.tsx'
import { Empty, Facts, Fault, Tabs } from '../kit/pieces.tsx'
import { attempt } from '../kit/toast.tsx'

/** The mail as its reader sees it, its text, its source, its headers and the signed bytes. */
export function Mail({ message }: { message: Json }) {
  const { id } = message
  const [part, setPart] = useState<Part | null>(null)
  const { data, error, reload } = useLoad((signal) => contentOf(id, signal), [id])
  if (error?.status === 404) return <Empty name="The content of this message is no longer kept" />
  if (data === undefined) return <Fault error={error} onRetry={reload} />
  const chosen = part ?? (data.html === null ? 'text' : 'preview')
  return (
    <div class="card stack">
      <Tabs name="Parts" tabs={PARTS} chosen={chosen} onChoose={setPart}>
        {chosen === 'preview' &&
          (data.html === null ? (
            <Empty name="This mail has no HTML part" />
          ) : (
            <MailFrame html={data.html} images={data.images} />
          ))}
        {chosen === 'text' &&
          (data.text === null ? <Empty name="This mail has no text part" /> : <Source text={data.text} />)}
        {chosen === 'source' &&
          (data.html === null ? <Empty name="This mail has no HTML part" /> : <Source text={data.html} />)}
        {chosen === 'headers' && <HeadersOf id={id} />}
        {chosen === 'raw' && <Raw id={id} />}
      </Tabs>
      {data.attachments.length > 0 && (
        <div class="stack tight">
          <h2>Attachments</h2>
          <div class="row">
            {data.attachments.map((attachment: Json, at: number) => (
              <button key={`${at}`} type="button" onClick={() => attempt(() => take(id, at + 1, attachment.filename))}>
                {attachment.filename} <span class="muted small">{bytes(attachment.size_bytes)}</span>
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
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

/** A long text as it is, of which enough is shown to read: a browser needs seconds for megabytes. */
export function Source({ text }: { text: string }) {
  const rest = text.length - MOST_SHOWN
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre class="wrap" tabIndex={0}>
      {rest > 0 ? `${text.slice(0, MOST_SHOWN)}\n… and ${bytes(rest)} more` : text}
    </pre>
  )
}

function Raw({ id }: { id: string }) {
  const { data, error, reload } = useRaw(id)
  if (data === undefined) return <Fault error={error} onRetry={reload} />
  return (
    <div class="stack tight">
      <span>
        <SaveRaw path={`/v1/messages/${id}/content?part=raw`} name={id} />
      </span>
      <Source text={data} />
    </div>
  )
}

const MOST_SHOWN = 200_000

/** The bytes as they are, which are not always text. */
export function SaveRaw({ path, name }: { path: string; name: string }) {
  const take = async () => save(`${name}.eml`, 'message/rfc822', await (await askApi('GET', path)).blob())
  return (
    <button type="button" onClick={() => attempt(take)}>
      Save as .eml
    </button>
  )
}

function HeadersOf({ id }: { id: string }) {
  const { data, error, reload } = useRaw(id)
  return data === undefined ? <Fault error={error} onRetry={reload} /> : <Headers raw={data} />
}

/** The header fields of a raw mail, unfolded. */
export function Headers({ raw }: { raw: string }) {
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

const useRaw = (id: string) => useLoad((signal) => getText(`/v1/messages/${id}/content`, { part: 'raw' }, signal), [id])

/** The content with what its images show, for those that come with the mail. */
export async function contentOf(id: string, signal: AbortSignal): Promise<Json> {
  const content = await get(`/v1/messages/${id}/content`, {}, signal)
  const images: Record<string, string> = {}
  for (const [at, { content_id, content_type, size_bytes }] of content.attachments.entries()) {
    if (content_id === null || !/^image\/[\w.+-]+$/.test(content_type) || size_bytes > MOST_IMAGE) continue
    images[content_id] = await dataUrl(await bytesOf(id, at + 1, signal), content_type)
  }
  return { ...content, images }
}

const MOST_IMAGE = 2_000_000

async function bytesOf(id: string, number: number, signal?: AbortSignal): Promise<Blob> {
  return (await askApi('GET', `/v1/messages/${id}/attachments/${number}`, { signal })).blob()
}

function dataUrl(blob: Blob, type: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(new Blob([blob], { type }))
  })
}

async function take(id: string, number: number, filename: string): Promise<void> {
  save(filename, 'application/octet-stream', await bytesOf(id, number))
}
