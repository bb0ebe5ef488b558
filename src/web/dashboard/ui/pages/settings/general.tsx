import { Copied, Facts } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { href } from '../../kit/router.ts'
import { organization, session } from '../../kit/state.ts'

/** The selected organization, and where the rest is. */
export function General() {
  const { id, name, plan, role } = organization.value ?? {}
  return (
    <div class="stack">
      {id !== undefined && (
        <section class="card stack">
          <h2>Organization</h2>
          <Facts
            of={[
              ['Name', <bdi>{name}</bdi>],
              ['ID', <Copied text={id} label="organization ID" />],
              ['Plan', <a href={href('/settings', { tab: 'plan' })}>{plan}</a>],
              ['Your role', <span class="capital">{role}</span>],
              ['Change', may('organizations_update') && <a href={href('/organizations')}>Rename or change the plan</a>],
            ]}
          />
        </section>
      )}
      <section class="card stack">
        <h2>You</h2>
        <p class="muted">
          Password, two-step sign-in and passkeys are under <a href={href('/account')}>Account</a>.
        </p>
      </section>
      <section class="card stack">
        <h2>Server</h2>
        <Facts
          of={[
            ['Version', session.value?.version],
            [
              'Metrics',
              may('configuration_get') && (
                <a href="/metrics" target="_blank" rel="noreferrer">
                  Prometheus endpoint, for allowed networks only
                </a>
              ),
            ],
            [
              'Reference',
              <a href="/docs" target="_blank" rel="noreferrer">
                API reference
              </a>,
            ],
            [
              'OpenAPI',
              <a href="/openapi.json" target="_blank" rel="noreferrer">
                OpenAPI 3.1 document
              </a>,
            ],
          ]}
        />
      </section>
    </div>
  )
}
