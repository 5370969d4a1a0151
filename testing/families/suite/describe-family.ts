import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { describeBusinessAccount } from './business-account.ts'
import { describeUsers, describeWebhooks } from './clients.ts'
import { describeControls } from './controls.ts'
import { describeCrashes } from './crashes.ts'
import { describeEndpoints } from './endpoints.ts'
import type { FamilyUnderTest } from './family-under-test.ts'
import { describeFeePayers } from './fee-payers.ts'
import { describeDisplacement, describeExpiry, describeExpiryInOrder } from './lives.ts'
import { describePayments, describeReplacement } from './payments.ts'
import { type FamilyPlatform, openFamilyPlatform } from './platform.ts'
import { describeRefusals } from './refusals.ts'

/** The members of `FamilyUnderTest` that its chains have: tests are collected before it is opened. */
type FamilyTraits = {
  expires: boolean
  displaces: boolean
  hasFeePayers: boolean
  replaces: boolean
  hasBusinessAccount: boolean
}

/** The promises about wallets that every family keeps over HTTP, and those of one family alone. */
export function describeFamily(
  name: string,
  open: () => Promise<FamilyUnderTest>,
  { expires, displaces, hasFeePayers, replaces, hasBusinessAccount }: FamilyTraits,
  describeOwn: (run: () => FamilyPlatform) => void = () => undefined,
): void {
  describe(`property 224: wallets of ${name}`, () => {
    let platform: FamilyPlatform
    const run = () => platform
    beforeAll(async () => {
      platform = await openFamilyPlatform(open)
    })
    afterEach(() => platform?.settle())
    afterAll(() => platform?.close())
    describePayments(run)
    if (replaces) describeReplacement(run)
    describeRefusals(run)
    describeControls(run)
    describeWebhooks(run)
    describeUsers(run)
    describeCrashes(run, replaces)
    if (expires) describeExpiry(run)
    if (expires && replaces) describeExpiryInOrder(run)
    if (displaces) describeDisplacement(run)
    describeOwn(run)
    if (hasFeePayers) describeFeePayers(run, replaces)
    if (hasBusinessAccount) describeBusinessAccount(run)
    describeEndpoints(run)
  })
}
