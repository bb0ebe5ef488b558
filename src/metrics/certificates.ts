import type { Registry } from './registry.ts'

export interface ShownCertificate {
  listener: string
  terms: { endsAt: number }
}

export function gaugeCertificates(registry: Registry, shown: () => readonly ShownCertificate[]): void {
  registry.gauges(
    'postrider_tls_certificate_expiry_timestamp_seconds',
    'When the certificate that is shown there ends.',
    ['listener'],
    () => shown().map(({ listener, terms }) => ({ values: [listener], value: terms.endsAt / 1000 })),
  )
}
