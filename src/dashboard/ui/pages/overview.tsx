import { Head } from '../kit/pieces.tsx'

export default function Page() {
  return <Head name="overview" />
}
