import type { Analysis } from './mail.ts'

/** Analysis of a mail, and what will be sent of it → the JSON record of the API. */
export function analysisRecord(
  { score, verdict, issues, stats, links }: Analysis,
  rendered: { subject: string; html: string | null; text: string | null },
) {
  return {
    score,
    verdict,
    issues,
    stats: {
      size_bytes: stats.sizeBytes,
      subject_characters: stats.subjectCharacters,
      html_bytes: stats.htmlBytes,
      text_bytes: stats.textBytes,
      words: stats.words,
      links: stats.links,
      images: stats.images,
      remote_images: stats.remoteImages,
      attachments: stats.attachments,
      image_text_ratio: stats.imageTextRatio,
    },
    links,
    rendered,
  }
}
