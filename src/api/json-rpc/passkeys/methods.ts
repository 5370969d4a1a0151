import { checked, type RpcMethods } from '#api/json-rpc/method'
import { loginOptions, verifyLogin } from './log-in.ts'
import { registrationOptions, verifyRegistration } from './register.ts'
import { loginOptionsParams, loginParams, registrationOptionsParams, registrationParams } from './schema.ts'

/** The methods of the endpoint for passkeys. */
export const passkeyMethods: RpcMethods = {
  rp_getRegistrationOptions: checked(registrationOptionsParams, registrationOptions),
  rp_getRegistrationVerification: checked(registrationParams, verifyRegistration),
  rp_getLoginOptions: checked(loginOptionsParams, loginOptions),
  rp_getLoginVerification: checked(loginParams, verifyLogin),
}
