import { useEffect, useState } from 'preact/hooks'
import { type Json, request, save } from '../../kit/api.ts'
import { bytes } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { attempt } from '../../kit/toast.tsx'
import { dataUrl } from '../message-content.tsx'
import { pixelsOf } from './pixels.ts'

/** The attachments of an inbound message as downloads, with small pictures of those that are photos or drawings. */
export function Attachments({ message: { id, attachments } }: { message: Json }) {
  const pictures = usePictures(id, attachments)
  if (attachments.length === 0) return null
  return (
    <div class="stack tight">
      <h2>Attachments</h2>
      <div class="row attachments">
        {attachments.map(({ filename, content_type, size }: Json, at: number) => (
          <button
            key={`${at}`}
            type="button"
            title={content_type}
            onClick={() => attempt(() => download(id, at + 1, filename || `attachment-${at + 1}`))}
          >
            {pictures[at] !== undefined ? <img src={pictures[at]} alt="" /> : <Icon name="download" />}
            <bdi class="ellipsis">{filename || '(unnamed)'}</bdi> <span class="muted small">{bytes(size)}</span>
          </button>
        ))}
      </div>
    </div>
  )
}

/** The pictures of a message as data: URLs, by their position; those that are too large, damaged or unreadable are left
 *  out. One after another. */
function usePictures(id: string, attachments: readonly Json[]): Record<number, string> {
  const [pictures, setPictures] = useState<Record<number, string>>({})
  useEffect(() => {
    const ended = new AbortController()
    const shown = attachments
      .map((each, at) => ({ ...each, at }) as Json)
      .filter(({ content_type, size }) => TYPES.includes(content_type) && size <= MAX_BYTES)
      .slice(0, MAX_PICTURES)
    const load = async () => {
      for (const { at, content_type } of shown) {
        const url = await pictureOf(id, at + 1, content_type, ended.signal)
        if (ended.signal.aborted) return
        if (url !== null) setPictures((before) => ({ ...before, [at]: url }))
      }
    }
    load().catch(() => {}) // the downloads remain
    return () => ended.abort()
  }, [id])
  return pictures
}

/** Null for a file of another kind, and for one with too many pixels. */
async function pictureOf(id: string, number: number, type: string, signal: AbortSignal): Promise<string | null> {
  const blob = await (await request('GET', pathOf(id, number), { signal })).blob()
  const pixels = pixelsOf(new Uint8Array(await blob.arrayBuffer()))
  return pixels !== null && pixels <= MAX_PIXELS ? dataUrl(blob, type) : null
}

const pathOf = (id: string, number: number) => `/v1/inbound-messages/${id}/attachments/${number}`

/** SVG is a document with links and styles, not only a picture. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif']
const MAX_BYTES = 2_000_000
/** 100 MB when decoded. A photo of a phone has 12 million. */
const MAX_PIXELS = 25_000_000
const MAX_PICTURES = 12

async function download(id: string, number: number, filename: string): Promise<void> {
  save(filename, 'application/octet-stream', await (await request('GET', pathOf(id, number))).blob())
}
