import { cutText } from '../../mail/cut-text.ts'
import { decodeEntities } from '../../mail/html-entities.ts'
import { type HtmlTag, RAW_TEXT, scanHtml } from '../../mail/html-scan.ts'
import { OpenElements, type TagFaults } from './open-elements.ts'
import { attributeOf, type Look, lookWithin, PLAIN_LOOK, UsedCss } from './style.ts'

/** The HTML of a mail as the rules need it. */
export interface Page {
  html: string
  /** False if only the beginning was read. */
  isWhole: boolean
  hasDoctype: boolean
  /** Start tags in order. */
  tags: HtmlTag[]
  faults: TagFaults
  /** Start of a tag that never ends; -1 if there is none. */
  cutAt: number
  links: PageLink[]
  images: PageImage[]
  /** With collapsed white space and without the alt texts of images. */
  visibleText: string
  /** Hidden by `display: none`, zero size and similar. */
  hiddenText: string
  /** Text in the colour of its background. */
  sameColourText: string
  css: UsedCss
  hasStyleInBody: boolean
}

export interface PageLink {
  tag: HtmlTag
  href: string | undefined
  /** Visible text, including alt texts of images. */
  text: string
}

export interface PageImage {
  tag: HtmlTag
  src: string
  alt: string | undefined
  /** Pixels, if attributes or styles say so. */
  width: number | null
  height: number | null
}

/** HTML → page. Reads as much as WORK allows, each character a bounded number of times. Never throws. */
export function readPage(html: string): Page {
  const end = endOfWork(html)
  const isWhole = end === html.length
  const source = isWhole ? html : html.slice(0, end)
  const elements = new OpenElements<Look>(PLAIN_LOOK)
  const css = new UsedCss()
  const tags: HtmlTag[] = []
  const links: PageLink[] = []
  const images: PageImage[] = []
  const texts = { visible: '', hidden: '', sameColour: '' }
  let hasDoctype = false
  let cutAt = -1
  let hasStyleInBody = false
  let hasVisibleText = false
  let raw: string | null = null
  let link: PageLink | null = null

  const opened = (tag: HtmlTag) => {
    tags.push(tag)
    elements.endImplied(tag.name)
    const style = attributeOf(tag, 'style')
    const own = style === undefined ? null : css.attribute(style)
    elements.push(
      tag,
      lookWithin(elements.state, tag, own, css.values.has('background') || css.values.has('background-color')),
    )
    raw = RAW_TEXT.has(tag.name) ? tag.name : null
    if (tag.name === 'style' && (elements.has('body') || hasVisibleText)) hasStyleInBody = true
    if (tag.name === 'a' || tag.name === 'area') {
      link = { tag, href: attributeOf(tag, 'href'), text: attributeOf(tag, 'alt') ?? '' }
      links.push(link)
      if (tag.name === 'area') link = null
    }
    if (tag.name === 'img') {
      const image = imageOf(tag, own)
      images.push(image)
      if (link !== null) link.text += ` ${image.alt ?? ''} `
    }
  }

  scanHtml(source, {
    tag: (tag) => {
      if (!INLINE.has(tag.name)) texts.visible += ' '
      if (tag.kind === 'open') return opened(tag)
      raw = null
      if (tag.name === 'a') link = null
      elements.close(tag)
    },
    text: (start, end) => {
      if (raw === 'style') return css.sheet(source.slice(start, end))
      if (raw !== null) return
      if (end === source.length && UNFINISHED.test(source.slice(start, start + 3))) {
        cutAt = start
        return
      }
      const text = decodeEntities(source.slice(start, end))
      const { isHidden: isDropped, isSizeless, colour, background } = elements.state
      const isHidden = isDropped || isSizeless
      if (isHidden) texts.hidden += text
      else if (colour !== null && colour === background) texts.sameColour += text
      else {
        texts.visible += text
        hasVisibleText ||= text.trim() !== ''
      }
      if (link !== null && !isHidden) link.text += text
    },
    comment: (start) => {
      if (DOCTYPE.test(source.slice(start, start + 9))) hasDoctype = true
    },
  })

  for (const each of links) each.text = oneLine(cutText(each.text, MAX_LINK_TEXT))
  return {
    html: source,
    isWhole,
    hasDoctype,
    tags,
    faults: elements.finish(),
    cutAt,
    links,
    images,
    visibleText: oneLine(texts.visible),
    hiddenText: oneLine(texts.hidden),
    sameColourText: oneLine(texts.sameColour),
    css,
    hasStyleInBody,
  }
}

/** Collapses white space, including invisible characters, to single spaces. */
export function oneLine(text: string): string {
  return text.replace(BLANKS, ' ').trim()
}

/** Offset → line, from 1. */
export function lineOf(html: string, offset: number): number {
  let line = 1
  for (let at = html.indexOf('\n'); at >= 0 && at < offset; at = html.indexOf('\n', at + 1)) line++
  return line
}

/** End of the analysed part: at 2 MB, or earlier if the text is dense with tags and declarations. Counts the
 *  characters at which the scanners work, in units of a plain character, so that the same mail is always cut at the
 *  same place. */
function endOfWork(html: string): number {
  const longest = Math.min(html.length, MAX_CHARS)
  if (longest * WORK_OF_TAG <= WORK) return longest
  let work = 0
  for (let at = 0; at < longest; at++) {
    work += WORK_OF.get(html.charCodeAt(at)) ?? 1
    if (work > WORK) return at
  }
  return longest
}

const MAX_CHARS = 2_097_152 // ours: twenty times what Gmail shows
/** Ours: 2 MB with a tag every 25 characters. 2 MB of tags alone would take four times as long, a second. */
const WORK = 8_000_000
const WORK_OF_TAG = 60
const WORK_OF = new Map(
  [
    ['<', WORK_OF_TAG],
    ['{', 40],
    ['&', 10],
    [';', 5],
  ].map(([sign, work]) => [(sign as string).charCodeAt(0), work as number]),
)
const MAX_LINK_TEXT = 500 // ours
const INLINE = new Set('a b i u s em strong span font small big sup sub code tt abbr q mark del ins'.split(' '))
const UNFINISHED = /^<\/?[a-z]/i
const DOCTYPE = /^<!doctype/i
const BLANKS = /(?:[\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|\u034f)+/g

function imageOf(tag: HtmlTag, own: Map<string, string> | null): PageImage {
  return {
    tag,
    src: (attributeOf(tag, 'src') ?? '').trim(),
    alt: attributeOf(tag, 'alt'),
    width: pixels(attributeOf(tag, 'width') ?? own?.get('width')),
    height: pixels(attributeOf(tag, 'height') ?? own?.get('height')),
  }
}

function pixels(text: string | undefined): number | null {
  const digits = /^\s*(\d{1,5})(?:\.\d+)?(?:px)?\s*$/.exec(text ?? '')?.[1]
  return digits === undefined ? null : Number(digits)
}
