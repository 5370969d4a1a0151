import type { KeyServiceSetting } from '#runtime/key-service-setting'
import { type KeyService, KeyServiceAway, KeyServiceRefused, type WrapContext } from './key-service.ts'

/** Loads what a service needs, and nothing for the others. */
async function load(setting: KeyServiceSetting): Promise<KeyService> {
  if (setting.kind === 'pkcs11') return (await import('./pkcs11/pkcs11.ts')).openPkcs11(setting)
  if (setting.kind === 'vault') return (await import('./vault.ts')).openVaultTransit(setting)
  if (setting.kind === 'aws-kms') return (await import('./aws-kms.ts')).openAwsKms(setting)
  return (await import('./google-kms.ts')).openGoogleKms(setting)
}

/** Opens the key service of a setting. It is asked for nothing yet; errors of its work begin with its name. */
export function openKeyService(setting: KeyServiceSetting): KeyService {
  let loaded: Promise<KeyService> | undefined
  const ask =
    (work: 'wrap' | 'unwrap') =>
    async (bytes: Buffer, context: WrapContext): Promise<Buffer> => {
      try {
        loaded ??= load(setting)
        return await (await loaded)[work](bytes, context)
      } catch (error) {
        const text = `${setting.name} does not ${work} the root key: ${(error as Error).message}`
        if (error instanceof KeyServiceAway) throw new KeyServiceAway(text, { cause: error })
        if (error instanceof KeyServiceRefused) throw new KeyServiceRefused(text, { cause: error })
        throw error
      }
    }
  return { name: setting.name, wrap: ask('wrap'), unwrap: ask('unwrap') }
}
