import { formatReply, type Reply } from '../../../mail/reply.ts'
import { type Dialogue, isFault } from './dialogue.ts'
import type { Fault } from './reply.ts'
import { createTranscript } from './transcript.ts'

/** User and password → null when the server accepts them, else the fault. AUTH PLAIN (RFC 4616) if offered, else LOGIN.
 *  A refusal defers the mail, because the operator's configuration is wrong. Transcript and fault never contain the
 *  password, even if the server repeats it. Never rejects. */
export async function logIn(
  dialogue: Dialogue,
  login: { user: string; password: string },
  offered: readonly string[],
  timeoutMs: number,
): Promise<Fault | null> {
  const { transcript } = dialogue
  // Collects the server's login replies apart from the transcript until the secrets are removed.
  dialogue.transcript = createTranscript(() => 0)
  const secrets = secretsOf(login)
  const say = (line: string, shown: string) => {
    transcript.client(shown)
    dialogue.say(`${line}\r\n`, shown)
  }
  const receive = async (): Promise<Reply | Fault> => {
    const reply = await dialogue.reply(timeoutMs)
    if (isFault(reply)) return reply
    const clean = { ...reply, text: strikeOut(reply.text, secrets) }
    transcript.server(formatReply(clean))
    return clean
  }
  try {
    return await speak(login, offered, say, receive)
  } finally {
    dialogue.transcript = transcript
  }
}

async function speak(
  login: { user: string; password: string },
  offered: readonly string[],
  say: (line: string, shown: string) => void,
  receive: () => Promise<Reply | Fault>,
): Promise<Fault | null> {
  let reply: Reply | Fault
  if (offered.includes('PLAIN')) {
    say(`AUTH PLAIN ${base64(`\0${login.user}\0${login.password}`)}`, 'AUTH PLAIN ***')
    reply = await receive()
  } else if (offered.includes('LOGIN')) {
    say('AUTH LOGIN', 'AUTH LOGIN')
    reply = await receive()
    for (const answer of [login.user, login.password]) {
      if (isFault(reply) || reply.code !== 334) break
      say(base64(answer), '***')
      reply = await receive()
    }
  } else {
    return { class: 'login', code: '4.7.0', message: 'the server offers neither AUTH PLAIN nor AUTH LOGIN' }
  }
  if (isFault(reply)) return reply
  if (reply.code === 235) return null
  return { class: 'login', code: '4.7.8', message: `authentication failed: ${formatReply(reply)}` }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

function secretsOf({ user, password }: { user: string; password: string }): string[] {
  return [base64(`\0${user}\0${password}`), base64(password), password].filter((secret) => secret !== '')
}

function strikeOut(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text)
}
