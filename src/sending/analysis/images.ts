import { cutText } from '../../mail/cut-text.ts'
import type { Report, Rule } from './mail.ts'
import { lineOf, type Page, type PageImage } from './page.ts'
import { VARIABLE_BEGINS } from './variables.ts'

/** Checks images: what is visible without them, and whether they are displayed. */
export const images: Rule = ({ input, page, imageTextRatio }, report) => {
  if (page === null) return
  const pixels = page.images.filter(isPixel)
  const shown = page.images.filter((image) => !isPixel(image))
  const reportTags = tagReporter(page, report)
  reportTags(
    'image_alt_missing',
    shown.filter(({ alt }) => alt === undefined),
  )
  reportTags(
    'image_size_missing',
    shown.filter(({ width }) => width === null),
  )
  reportTags(
    'image_tracking_pixel',
    pixels.filter(({ src }) => isRemote(src)),
  )
  reportTags(
    'image_without_source',
    page.images.filter(({ src }) => src === ''),
  )
  reportTags(
    'image_data',
    page.images.filter(({ src }) => /^data:/i.test(src)),
  )
  reportTags(
    'image_insecure',
    page.images.filter(({ src }) => /^http:/i.test(src)),
  )
  reportTags(
    'image_relative',
    page.images.filter(({ src }) => isRelative(src)),
  )
  const attached = new Set(input.attachments.map(({ contentId }) => contentId))
  reportTags(
    'image_cid_unknown',
    page.images.filter(({ src }) => /^cid:/i.test(src) && !attached.has(contentIdOf(src))),
  )
  const remote = shown.filter(({ src }) => isRemote(src))
  if (remote.length > 0) report('remote_content', ` (${remote.length})`)

  const letters = page.visibleText.length
  if (shown.length > 0 && letters < 20) report('image_only')
  else if (imageTextRatio > 0.85 && letters < 500) report('image_heavy', ` (${Math.round(imageTextRatio * 100)} %)`)
}

/** Page → fraction of images in the area of images and text, 0 to 1, two digits; 0 without images. */
export function imageTextRatioOf(page: Page | null): number {
  if (page === null) return 0
  const area = page.images.reduce((sum, { width, height }) => sum + (width ?? 300) * (height ?? 150), 0) // CSS 2.2 §10.3.2
  const text = page.visibleText.length * 160 // 8 by 20 pixels per character
  return area === 0 ? 0 : Math.round((area / (area + text)) * 100) / 100
}

/** True if the image is fetched when the mail is displayed. */
export function isRemote(src: string): boolean {
  return /^(?:https?:)?\/\//i.test(src)
}

function isPixel({ width, height }: PageImage): boolean {
  return width !== null && height !== null && width <= 2 && height <= 2
}

function isRelative(src: string): boolean {
  return src !== '' && !/^[a-z][a-z0-9+.-]{0,40}:/i.test(src) && !VARIABLE_BEGINS.test(src)
}

/** RFC 2392 §2: percent-encoded in the URL. */
function contentIdOf(src: string): string {
  const id = src.slice(4)
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

function tagReporter(page: Page, report: Report) {
  return (code: Parameters<Report>[0], found: PageImage[]) => {
    const [first] = found
    if (first === undefined) return
    const where =
      first.src === '' || /^data:/i.test(first.src) ? `line ${lineOf(page.html, first.tag.start)}` : first.src
    report(code, `: ${cutText(where, 100)}${found.length === 1 ? '' : ` and ${found.length - 1} more`}`)
  }
}
