import { type Alert, adviceFor, alertTitle, type NoticeEvent } from '../../model/alert.ts'
import { iso } from '../../model/event.ts'

/** What a channel gets, before it becomes the channel's format. */
export interface AlertText {
  event: NoticeEvent | 'test'
  /** `Critical: Disk space is low (mail.example.com)` */
  title: string
  severity: Alert['severity']
  /** What was found; when it has ended, the last finding. */
  message: string
  /** What to do; null once it has ended. */
  advice: string | null
  facts: [label: string, value: string][]
  /** Page of the dashboard. */
  url: string
}

/** The installation, as alerts name it. */
export interface AboutServer {
  hostname: string
  publicUrl: () => string
}

/** Alert and event → its text. `round`: how many notices that it fires the channel got before. */
export function alertText(alert: Alert, event: NoticeEvent, round: number, about: AboutServer): AlertText {
  const { severity, raisedAt, resolvedAt } = alert
  const still = round > 0 ? 'Still ' : ''
  const state = event === 'resolved' ? 'Resolved' : `${still}${severity === 'critical' ? 'critical' : 'warning'}`
  const facts: AlertText['facts'] = [['Server', about.hostname]]
  if (raisedAt !== null) facts.push(['Since', timeOf(raisedAt)])
  if (event === 'resolved' && resolvedAt !== null) facts.push(['Resolved', timeOf(resolvedAt)])
  return {
    event,
    title: `${state.charAt(0).toUpperCase()}${state.slice(1)}: ${alertTitle(alert)} (${about.hostname})`,
    severity,
    message: alert.message,
    advice: event === 'resolved' ? null : adviceFor(alert),
    facts,
    url: `${about.publicUrl()}/dashboard/health`,
  }
}

/** The text of a test. */
export function testText(about: AboutServer): AlertText {
  return {
    event: 'test',
    title: `Test: alerts of ${about.hostname} arrive here`,
    severity: 'warning',
    message: 'This is a test of an alert channel. Nothing is wrong.',
    advice: null,
    facts: [['Server', about.hostname]],
    url: `${about.publicUrl()}/dashboard/health`,
  }
}

/** `2026-11-21 12:00 UTC` */
const timeOf = (at: number) => `${iso(at).slice(0, 16).replace('T', ' ')} UTC`
