import type { StoredMail } from '../../mail/shown-content.ts'
import { Refusal } from '../../model/refusal.ts'
import { PoisonousJob, PoolStopped, type ThreadPool } from '../../os/thread-pool.ts'
import { SmtpReply } from '../../receiving/smtp-server/reply.ts'
import type { ReadAuthor } from '../../receiving/smtp-submission/author-request.ts'
import type { Analyze } from '../../sending/analysis/mail.ts'
import type { WorkBudget } from '../../sending/submission/template-work.ts'
import type { TemplateEngine } from '../../sending/submission/templates.ts'
import type { ReadList } from '../../sending/suppressions/read-list.ts'
import type { MakeInboundRecord } from '../../web/api/routes/inbound-message-content.ts'
import type { Bytes, ParsingAnswer, ParsingAnswers, ParsingJob } from './job.ts'

/** Parses what tenants and strangers wrote, outside the main thread. Content that occupies a thread too long is refused
 *  with 422: `template_error` for templates, `invalid_state` otherwise. */
export interface Parsing {
  storedMail: StoredMail
  makeInboundRecord: MakeInboundRecord
  analyze: Analyze
  templateEngine: TemplateEngine
  readAuthor: ReadAuthor
  readList: ReadList
}

/** Creates a Parsing that runs its jobs with `run`. */
export function createParsing(run: (job: ParsingJob) => Promise<ParsingAnswer>): Parsing {
  const ask = async <K extends ParsingJob['kind']>(
    job: Extract<ParsingJob, { kind: K }>,
    workBudget?: WorkBudget,
  ): Promise<ParsingAnswers[K]> => {
    const answer = await run(job).catch((error) => {
      throw refusalFor(error, job.kind)
    })
    if (workBudget !== undefined) workBudget.left -= answer.work
    if ('done' in answer) return answer.done as ParsingAnswers[K]
    if ('reply' in answer) throw new SmtpReply(answer.reply.code, answer.reply.enhanced, answer.reply.text)
    throw new Refusal(answer.refused.reason, answer.refused.message, answer.refused.extra)
  }

  return {
    storedMail: {
      record: async (content, facts, owner) =>
        (await ask({ kind: 'stored', owner, content: shared(content), want: { part: 'record', facts } }))!,
      part: (content, part, owner) => ask({ kind: 'stored', owner, content: shared(content), want: { part } }),
      attachment: (content, place, owner) =>
        ask({ kind: 'stored', owner, content: shared(content), want: { part: 'attachment', place } }),
    },
    makeInboundRecord: (packed, facts, owner) => ask({ kind: 'inbound_record', owner, content: shared(packed), facts }),
    analyze: (input, content, owner) => ask({ kind: 'analyze', owner, input, content }),
    templateEngine: {
      parse: (texts, as, owner) => ask({ kind: 'template_parse', owner, texts, as }),
      compile: (mjml, at, owner) => ask({ kind: 'template_compile', owner, mjml, at }),
      preview: (texts, variables, parts, owner) => ask({ kind: 'template_preview', owner, texts, variables, parts }),
      fill: (template, variables, owner, workBudget) =>
        ask({ kind: 'template_fill', owner, template, variables, workLeft: workBudget?.left ?? null }, workBudget),
    },
    readAuthor: (head, searched, recipients, owner) => ask({ kind: 'author_mail', owner, head, searched, recipients }),
    readList: (text, format, mostRefused, owner) => ask({ kind: 'suppression_list', owner, text, format, mostRefused }),
  }
}

/** Creates a Parsing that runs its jobs in a thread pool. */
export const parsingIn = (pool: ThreadPool<ParsingJob, ParsingAnswer>): Parsing => createParsing((job) => pool.run(job))

/** Creates a Parsing that runs in the calling thread, for the command line. */
export function parsingHere(): Parsing {
  let perform: ((job: ParsingJob) => Promise<ParsingAnswer>) | null = null
  return createParsing(async (job) => {
    // Imported on first use, so that commands start faster.
    perform ??= (await import('./perform.ts')).createPerform()
    return perform(job)
  })
}

/** Raw received mail → its attachment at this position, from 1, read in the calling thread, for the command line. */
export async function inboundAttachmentHere(raw: Uint8Array, place: number): Promise<Uint8Array | null> {
  const { parseAttachments } = await import('../../mail/parse.ts')
  const [content = null] = await parseAttachments(raw, new Promise(() => {}), place)
  return content
}

/** Smaller values are copied with the message, which costs no more. */
const SHARED_BYTES = 65_536

function shared(bytes: Uint8Array): Bytes {
  if (bytes.byteLength < SHARED_BYTES)
    return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength))
  copy.set(bytes)
  return copy
}

function refusalFor(error: unknown, kind: ParsingJob['kind']): unknown {
  if (error instanceof PoolStopped) {
    return new Refusal('unavailable', 'This server is stopping. Try again later.', {
      retryAfterSeconds: STOPPING_RETRY_SECONDS,
    })
  }
  if (!(error instanceof PoisonousJob)) return error
  const reason = kind.startsWith('template_') ? 'template_error' : 'invalid_state'
  return new Refusal(reason, TOO_SLOW[kind], { details: { reason: 'took_too_long' } })
}

const STOPPING_RETRY_SECONDS = 5

const TOO_SLOW: Record<ParsingJob['kind'], string> = {
  stored: 'The content of this message takes too long to parse. You can still download the raw message.',
  inbound_record: 'The content of this message takes too long to read. You can still download the raw message.',
  analyze: 'The message takes too long to analyze. Make its HTML simpler or smaller.',
  template_parse: 'The template takes too long to parse. Make it simpler or smaller.',
  template_compile: 'The MJML takes too long to compile. Make it simpler or smaller.',
  template_preview: 'The template takes too long to render. Make it simpler or smaller.',
  template_fill: 'The template takes too long to render. Make it simpler or smaller.',
  author_mail: 'the mail takes too long to parse',
  suppression_list: 'The list takes too long to parse. Send it in smaller parts.',
}
