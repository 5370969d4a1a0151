import type { CustodyScope } from '#custody/index'
import { type AttestationPurpose, importAttestationKey } from '#custody/installation/index'
import {
  attesterAccount,
  gatewaySignerAccount,
  quoteSignerAccount,
  type SandboxAccount,
} from './constants.ts'

const signers: Record<AttestationPurpose, SandboxAccount> = {
  message: attesterAccount,
  balance: gatewaySignerAccount,
  quote: quoteSignerAccount,
}

/** Adds the keys whose addresses the contracts of local chains know. */
export async function seedAttestationKeys(scope: CustodyScope): Promise<void> {
  for (const [purpose, { privateKey }] of Object.entries(signers))
    await importAttestationKey(scope, purpose as AttestationPurpose, privateKey)
}
