import { X509Certificate } from 'node:crypto'
import type { AlertChannel } from '../../config/load.ts'
import { parseMailbox } from '../../mail/address.ts'
import type { Alert, NoticeKey } from '../../model/alert.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Post, PostResult } from '../../net/https/requests.ts'
import type { UserMail } from '../../sending/submission/user-mail.ts'
import { writtenUserMail } from '../../sending/submission/user-mail-text.ts'
import { signEnveloped } from '../webhooks/sign.ts'
import { discordBody, noticeId, slackBody, teamsBody, webhookBody } from './formats.ts'
import { sendThrough } from './mail-server.ts'
import { type AboutServer, type AlertText, alertText, testText } from './text.ts'

/** Result of one attempt. Errors contain no URL and no secret. */
export interface Told {
  /** Null: the channel accepted it. */
  error: string | null
  /** How long the channel asks to wait, ms. */
  retryAfterMs: number | null
  durationMs: number
}

/** What a channel gets: a notice of an alert with the number of the attempt, or a test. */
export type Telling = { notice: NoticeKey; alert: Alert; attempt: number } | { test: string }

/** Tells a channel. Rejects only on a bug. */
export type Tell = (telling: Telling) => Promise<Told>

export interface ChannelDeps {
  post: Post
  /** For mail without a server of its own. */
  userMail: Pick<UserMail, 'send'>
  resolver: Resolver
  /** Reads a file with a secret. Throws if it cannot be read, or if everybody can. */
  readSecret: (path: string) => string
  /** Reads any other file. Throws if it cannot be read. */
  readFile: (path: string) => string
  /** Sender of mail that names none; '' = there is none. */
  mailFrom: string
  about: AboutServer
  userAgent: string
  now: () => number
}

/** A configured channel → how to tell it. Files are read for each attempt, so a changed one needs no restart. */
export function createChannel(channel: AlertChannel, deps: ChannelDeps): Tell {
  const send = channel.type === 'mail' ? mailTo(channel, deps) : postTo(channel, deps)
  return async (telling) => {
    const startedAt = deps.now()
    const text = 'test' in telling ? testText(deps.about) : textOf(telling, deps.about)
    try {
      const told = await send(telling, text)
      return { ...told, durationMs: deps.now() - startedAt }
    } catch (error) {
      if (!(error instanceof ChannelFault)) throw error
      return { error: error.message, retryAfterMs: null, durationMs: deps.now() - startedAt }
    }
  }
}

/** What the operator has to repair in the configuration of the channel. */
class ChannelFault extends Error {}

type Send = (telling: Telling, text: AlertText) => Promise<Pick<Told, 'error' | 'retryAfterMs'>>

const textOf = ({ alert, notice }: Exclude<Telling, { test: string }>, about: AboutServer) =>
  alertText(alert, notice.event, notice.round, about)

function postTo(channel: AlertChannel, deps: ChannelDeps): Send {
  const { post, userAgent } = deps
  return async (telling, text) => {
    const url = channel.url ?? secretIn('url_file', channel.urlFile, deps)
    const body = JSON.stringify(bodyOf(channel, telling, text, deps))
    const headers = {
      'content-type': 'application/json',
      ...(channel.type === 'webhook' ? signature(telling, body, channel, deps) : {}),
      'User-Agent': userAgent,
    }
    return judged(await post(url, { headers, body, timeoutMs: POST_MS }))
  }
}

function bodyOf({ type }: AlertChannel, telling: Telling, text: AlertText, { about, now }: ChannelDeps): object {
  if (type === 'slack') return slackBody(text)
  if (type === 'discord') return discordBody(text)
  if (type === 'teams') return teamsBody(text)
  return webhookBody('test' in telling ? null : telling.alert, text, about, now())
}

function signature(telling: Telling, body: string, { secretFile }: AlertChannel, deps: ChannelDeps) {
  const secret = secretIn('secret_file', secretFile, deps)
  if (!SIGNING_SECRET.test(secret)) throw new ChannelFault('secret_file: expected whsec_ and base64')
  const eventId = 'test' in telling ? telling.test : noticeId(telling.notice)
  const attempt = 'test' in telling ? 1 : telling.attempt
  return signEnveloped({ secrets: { secret, previous: null }, eventId, body, attempt, now: deps.now() })
}

function judged(result: PostResult): Pick<Told, 'error' | 'retryAfterMs'> {
  if (result.kind === 'blocked') return { error: `not posted: ${result.reason}`, retryAfterMs: null }
  if (result.kind === 'no_answer') return { error: result.error, retryAfterMs: null }
  const { status, retryAfterSeconds } = result
  const isAccepted = status >= 200 && status < 300
  return {
    error: isAccepted ? null : `HTTP ${status}`,
    retryAfterMs: retryAfterSeconds === null ? null : retryAfterSeconds * 1000,
  }
}

function mailTo({ to, from, server }: AlertChannel, deps: ChannelDeps): Send {
  return async (telling, { title, message, advice, facts, url }) => {
    const at = deps.now()
    const details = facts.map(([label, value]) => `${label}: ${value}`).join('\n')
    const paragraphs = [message, ...(advice === null ? [] : [`What to do: ${advice}`]), details]
    const text = { kind: 'alert' as const, subject: title, paragraphs, url }
    if (server === null) {
      const obstacle = await deps.userMail.send({ to, text, expiresAt: at + MAIL_MS }, at)
      return { error: obstacle === null ? null : `not queued: ${obstacle}`, retryAfterMs: null }
    }
    const sender = parseMailbox(from || deps.mailFrom)
    const recipient = parseMailbox(to)
    if (sender === null) throw new ChannelFault('no sender: set from, or users.mail_from')
    if (recipient === null) throw new ChannelFault('to is not an email address')
    const id = 'test' in telling ? telling.test : noticeId(telling.notice)
    const mail = { ...writtenUserMail(text, deps.about.publicUrl()), id, from: sender, to: recipient, at }
    const readSecret = () => secretIn('password_file', server.passwordFile, deps)
    const readCertificates = (path: string) => certificatesIn('ca_file', path, deps)
    const { resolver, about } = deps
    return {
      error: await sendThrough(server, mail, { hostname: about.hostname, resolver, readSecret, readCertificates }),
      retryAfterMs: null,
    }
  }
}

function secretIn(key: string, file: string | null, { readSecret }: ChannelDeps): string {
  if (file === null) throw new ChannelFault(`${key} is missing`)
  let text: string
  try {
    text = readSecret(file).trim()
  } catch (error) {
    throw new ChannelFault(`${key}: ${reasonOf(error)}`)
  }
  if (text === '' || text.length > MOST_SECRET) throw new ChannelFault(`${key}: the file is empty or too long`)
  return text
}

function certificatesIn(key: string, file: string, { readFile }: ChannelDeps): Uint8Array[] {
  try {
    const found = readFile(file).match(PEM_CERTIFICATE) ?? []
    if (found.length === 0) throw new Error('the file contains no PEM certificate')
    return found.map((pem) => new X509Certificate(pem).raw)
  } catch (error) {
    throw new ChannelFault(`${key}: ${reasonOf(error)}`)
  }
}

const reasonOf = (error: unknown) =>
  (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : String(error))

const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{16,200}={0,2}$/
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g
const MOST_SECRET = 2000
const POST_MS = 30_000
/** Older news of an alert is worth nothing. */
const MAIL_MS = 24 * 3_600_000
