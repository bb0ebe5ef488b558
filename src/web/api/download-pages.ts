import type { Download, DownloadLinks } from '../../mail/download-link.ts'
import { unpackRawBeside } from '../../mail/inbound-content.ts'
import { Refusal } from '../../model/refusal.ts'
import { requestTarget } from '../../net/request-target.ts'
import type { Clock } from '../../os/clock.ts'
import type { Store } from '../../storage/store.ts'
import type { LargeResponses } from './large-responses.ts'
import type { Page } from './route-table.ts'
import { type AttachmentOf, PRIVATE } from './routes/raw-mail.ts'

/** The links of mail/download-link.ts, which need no key. Nothing is read for a link that was not made here. Always a
 *  download of unknown bytes, whatever the sender calls them. */
export function downloadPages(deps: {
  store: Pick<Store, 'inbound'>
  links: () => DownloadLinks
  attachment: AttachmentOf
  large: LargeResponses
  clock: Clock
}): Page[] {
  const { store, clock } = deps
  const bytesOf = async ({ inboundMessageId, part }: Download): Promise<Uint8Array | null> => {
    const packed = await store.inbound.raw(inboundMessageId)
    if (packed === null) return null
    const raw = await unpackRawBeside(packed)
    if (part === 'raw') return raw
    return deps.attachment(raw, part)
  }
  return [
    {
      method: 'GET',
      path: '/downloads/:token',
      async handle(request) {
        const download = deps.links().read(requestTarget(request).pathname, clock.now())
        const message = download === null ? null : await store.inbound.get(download.inboundMessageId)
        if (download === null || message === null) throw gone()
        const large = deps.large.open(request, message.organizationId)
        try {
          await large.enter(message.sizeBytes)
          const bytes = await bytesOf(download)
          if (bytes === null) throw gone()
          return new Response(large.slicesOf(bytes) ?? bytes.slice(), {
            headers: { ...PRIVATE, 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' },
          })
        } finally {
          large.leave()
        }
      },
    },
  ]
}

const gone = () => new Refusal('not_found', 'This link has expired, or its content was deleted. Request a new link.')
