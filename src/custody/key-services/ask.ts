import { createCaller } from '#runtime/outbound/call'
import { KeyServiceAway, keyServiceMs } from './key-service.ts'

const answerBytesMax = 65_536
const call = createCaller('private')

/** An answer of a service; `body` is empty where it was no JSON object. */
type ServiceAnswer<Body> = { status: number; body: Partial<Body> }

/** Posts JSON to a service. Throws `KeyServiceAway` where there is no answer in time. */
export async function askService<Body>(
  url: string,
  headers: Record<string, string>,
  body: Record<string, string>,
): Promise<ServiceAnswer<Body>> {
  const { status, text, isWhole } = await call({
    method: 'POST',
    url,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    timeoutMs: keyServiceMs,
    keptBytes: answerBytesMax,
  }).catch((error: Error) => {
    throw new KeyServiceAway(error.message || String(error), { cause: error })
  })
  return { status, body: isWhole ? jsonOf(text) : {} }
}

function jsonOf<Body>(text: string): Partial<Body> {
  try {
    return (JSON.parse(text) as Body | null) ?? {}
  } catch {
    return {}
  }
}
