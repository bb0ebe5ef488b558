import type { AnalysedAttachment, Rule } from './mail.ts'

/** Checks the size of the HTML and of the whole mail. */
export const size: Rule = ({ input, page }, report) => {
  const htmlBytes = Buffer.byteLength(input.html ?? '')
  if (htmlBytes > GMAIL_CLIPS) report('size_clipped', ` (${kilobytes(htmlBytes)} KB)`)
  else if (htmlBytes > GMAIL_CLIPS * 0.9) report('size_near_clip', ` (${kilobytes(htmlBytes)} KB)`)
  if (input.sizeBytes > LARGE) report('size_large', ` (${Math.round(input.sizeBytes / 1_048_576)} MB)`)
  if (page?.isWhole === false) report('size_not_read_whole')
}

/** Checks the file extensions of attachments. */
export const attachments: Rule = ({ input }, report) => {
  for (const [code, endings] of ENDINGS) {
    const found = input.attachments.filter(({ filename }) => endings.has(endingOf(filename)))
    if (found.length > 0) report(code, `: ${namesOf(found)}`)
  }
}

const GMAIL_CLIPS = 102 * 1024 // Gmail clips the message at this size
const LARGE = 10 * 1_048_576 // ours: smaller servers refuse more

// Our choice of types that large receivers are known to reject.
const ENDINGS = [
  [
    'attachment_blocked',
    new Set(
      'ade adp apk appx bat cab chm cmd com cpl diagcab dll dmg exe hta img ins iso isp jar js jse lib lnk mde msc msi msp mst nsh pif ps1 reg scr sct shb sys vb vbe vbs vhd vxd wsc wsf wsh xll'.split(
        ' ',
      ),
    ),
  ],
  ['attachment_macros', new Set('docm dotm xlsm xltm xlam xlsb pptm potm ppam ppsm sldm'.split(' '))],
  ['attachment_html', new Set('htm html shtml xhtml mht mhtml svg'.split(' '))],
  ['attachment_archive', new Set('zip rar 7z gz tgz tar bz2 xz arj ace'.split(' '))],
] as const

function endingOf(filename: string): string {
  return filename.trim().toLowerCase().split('.').at(-1)!
}

function namesOf(found: readonly AnalysedAttachment[]): string {
  const names = found.slice(0, 3).map(({ filename }) => filename)
  return `${names.join(', ')}${found.length > 3 ? ` and ${found.length - 3} more` : ''}`
}

function kilobytes(bytes: number): number {
  return Math.round(bytes / 1024)
}
